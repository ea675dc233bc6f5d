// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// All that doctor looks at, in the order of the report; each check looks once at each thing.
struct Examination {
    private struct Key: Hashable {
        let id: CheckID
        let identity: String?
    }

    private let subject: DoctorSubject
    /// The only check whose rows are told; nil for all.
    private let wanted: CheckID?
    /// The only identity that is looked at, with its routes; nil for all.
    private let chosen: String?
    private var blocking: [Key: Bool] = [:]
    private var told: [DoctorRow]

    /// - Parameter told: rows that were told before.
    init(of subject: DoctorSubject, wanted: CheckID?, for identity: String?, after told: [DoctorRow]) {
        self.subject = subject
        self.wanted = wanted
        chosen = identity
        self.told = told
    }

    /// Runs all checks, or one check with those that it needs.
    ///
    /// - Parameter tell: gets each row as soon as it is known.
    /// - Throws: what `tell` throws.
    mutating func look(
        telling tell: (DoctorRow) throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        let needed = wanted.map(Self.closure)
        let checks = CheckList.all.filter { needed?.contains($0.id) ?? true }
        for check in checks where check.id.group == .configuration {
            try await look(check, telling: tell)
        }
        for identity in subject.identities where chosen == nil || chosen == identity.name {
            let isUnused = chosen == nil && subject.isUnused(identity)
            for case let check as any IdentityCheck.Type in checks {
                let finding = await finding(of: check, for: identity.name) {
                    if let source = identity.client.source, !check.id.concernsSources {
                        return .skip("source: \(source.name.rawValue) has no token endpoint")
                    }
                    return await check.look(at: identity, of: subject)
                }
                try add(
                    DoctorRow(
                        id: check.id, identity: identity.name, finding: isUnused ? finding.ofUnused : finding,
                        isAboutUnused: isUnused),
                    of: check, telling: tell)
            }
        }
        for group in [CheckID.Group.routes, .machine] {
            for check in checks where check.id.group == group { try await look(check, telling: tell) }
        }
    }

    private mutating func look(
        _ check: any DoctorCheck.Type, telling tell: (DoctorRow) throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        if let whole = check as? any WholeCheck.Type {
            let finding = await finding(of: check, for: nil) { await whole.look(at: subject) }
            try add(DoctorRow(id: check.id, identity: nil, finding: finding), of: check, telling: tell)
        } else if let check = check as? any RouteCheck.Type {
            for route in subject.configuration.routesByIdentity
            where chosen == nil || chosen == route.identity {
                let finding = await check.look(at: route, of: subject)
                try add(DoctorRow(id: check.id, identity: nil, finding: finding), of: check, telling: tell)
            }
        }
    }

    private mutating func add(
        _ row: DoctorRow, of check: any DoctorCheck.Type,
        telling tell: (DoctorRow) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let key = Key(id: row.id, identity: row.identity)
        blocking[key] = (blocking[key] ?? false) || row.finding.isBlocking
        guard wanted == nil || wanted == check.id else { return }
        let row = row.echoed(check.echoes, among: told)
        told.append(row)
        try tell(row)
    }

    private func finding(
        of check: any DoctorCheck.Type, for identity: String?, _ look: () async -> Finding
    ) async -> Finding {
        let blocked = check.needs.first { need in
            blocking[Key(id: need, identity: identity)] ?? blocking[Key(id: need, identity: nil)] ?? false
        }
        if let blocked { return .blocked(by: blocked) }
        return await look()
    }

    /// A check with all that it needs.
    private static func closure(of id: CheckID) -> Set<CheckID> {
        let needs = CheckList.all.first { $0.id == id }?.needs ?? []
        return needs.reduce(into: [id]) { $0.formUnion(closure(of: $1)) }
    }
}

extension DoctorRow {
    /// This row, or one that refers to an earlier row which failed for the same reason.
    fileprivate func echoed(_ ids: [CheckID], among told: [DoctorRow]) -> DoctorRow {
        let origin = told.first { ids.contains($0.id) && $0.identity == identity && $0.finding == finding }
        guard finding.result == .fail, let origin else { return self }
        return DoctorRow(id: id, identity: identity, finding: .told(by: origin.id))
    }
}
