// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// All that doctor has found; each check looks once at each thing.
struct Examination {
    /// One line of the report.
    struct Row: Sendable {
        let id: CheckID
        /// nil for what is no identity's.
        let identity: String?
        let finding: Finding
    }

    private struct Key: Hashable {
        let id: CheckID
        let identity: String?
    }

    private let patient: Patient
    private var blocking: [Key: Bool] = [:]

    init(_ patient: Patient) {
        self.patient = patient
    }

    /// Looks at everything, or at what one check and those that it needs look at.
    ///
    /// - Parameters:
    ///   - wanted: the only check whose rows are told; nil for all.
    ///   - identity: the only identity that is looked at, with its routes; nil for all.
    mutating func rows(of wanted: CheckID?, for identity: String?) async -> [Row] {
        var rows: [Row] = []
        let needed = wanted.map(Self.closure)
        for check in CheckList.all where needed?.contains(check.id) ?? true {
            let found = await look(check, for: identity)
            for row in found {
                let key = Key(id: row.id, identity: row.identity)
                blocking[key] = (blocking[key] ?? false) || row.finding.isBlocking
            }
            guard wanted == nil || wanted == check.id else { continue }
            rows += found.map { row in row.echoed(check.echoes, among: rows) }
        }
        return rows
    }

    private func look(_ check: any DoctorCheck.Type, for chosen: String?) async -> [Row] {
        var rows: [Row] = []
        if let check = check as? any WholeCheck.Type {
            let finding = await finding(of: check, for: nil) { await check.look(at: patient) }
            rows.append(Row(id: check.id, identity: nil, finding: finding))
        } else if let check = check as? any IdentityCheck.Type {
            for identity in patient.identities where chosen == nil || chosen == identity.name {
                let finding = await finding(of: check, for: identity.name) {
                    if let source = identity.client.source, !check.id.concernsSources {
                        return .skip("source: \(source.name.rawValue) has no token endpoint")
                    }
                    return await check.look(at: identity, of: patient)
                }
                rows.append(Row(id: check.id, identity: identity.name, finding: finding))
            }
        } else if let check = check as? any RouteCheck.Type {
            for route in patient.configuration.routesByIdentity
            where chosen == nil || chosen == route.identity {
                rows.append(
                    Row(id: check.id, identity: nil, finding: await check.look(at: route, of: patient)))
            }
        }
        return rows
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

    /// A check and all that it needs.
    private static func closure(of id: CheckID) -> Set<CheckID> {
        let needs = CheckList.all.first { $0.id == id }?.needs ?? []
        return needs.reduce(into: [id]) { $0.formUnion(closure(of: $1)) }
    }
}

extension Examination.Row {
    /// The same, or that it is not told once more where a row that is told already has failed for the same reason.
    fileprivate func echoed(_ ids: [CheckID], among told: [Examination.Row]) -> Examination.Row {
        let origin = told.first { ids.contains($0.id) && $0.identity == identity && $0.finding == finding }
        guard finding.result == .fail, let origin else { return self }
        return Examination.Row(id: id, identity: identity, finding: .blocked(by: origin.id))
    }
}
