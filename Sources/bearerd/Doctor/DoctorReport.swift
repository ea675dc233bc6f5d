// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import BearerdObservability

/// What doctor says.
struct DoctorReport {
    private let rows: [Examination.Row]
    /// Whether the configuration can be used, whatever the lines tell of.
    private let isUsable: Bool

    /// What stands over the lines that are no identity's.
    private enum Group: String {
        case configuration
        case identities
        case routes
        case machine
    }

    /// The lines about files come first, then each identity's, then the others.
    ///
    /// - Parameters:
    ///   - rows: those that are told of.
    ///   - isUsable: whether the configuration can be used.
    init(_ rows: [Examination.Row], isUsable: Bool) {
        self.isUsable = isUsable
        let names = rows.compactMap(\.identity).reduce(into: [String]()) { names, name in
            if !names.contains(name) { names.append(name) }
        }
        let whole = rows.filter { $0.identity == nil }
        self.rows =
            whole.filter { Self.group(of: $0.id) == .configuration }
            + names.flatMap { name in rows.filter { $0.identity == name } }
            + whole.filter { Self.group(of: $0.id) != .configuration }
    }

    /// Whether the configuration can be used and no check that is told of has failed.
    private var isSuccess: Bool { isUsable && rows.allSatisfy { $0.finding.result != .fail } }

    /// How the process ends.
    var exitStatus: ExitStatus {
        guard isUsable else { return .configuration }
        return isSuccess ? .success : .unavailable
    }

    /// A line for each check, those of one identity together.
    var text: TerminalText {
        var text = TerminalText()
        var last: String?
        for row in rows {
            let title = row.identity.map { "identity \($0)" } ?? Self.group(of: row.id).rawValue
            if title != last, rows.count > 1 { text.append("\(last == nil ? "" : "\n")\(title.printable)\n") }
            last = title
            text.append(row.finding.result.rawValue.padded(to: 6), row.finding.result.colour)
            let fix = row.finding.fix.map { "; mend: \($0)" } ?? ""
            text.append("\(row.id.rawValue.padded(to: 19))\((row.finding.seen + fix).printable)\n")
        }
        return text
    }

    /// `{"success":…,"checks":[{"id":…,"identity":…,"result":…,"seen":…,"fix":…}]}`.
    var json: JSONValue {
        ["success": .bool(isSuccess), "checks": .array(rows.map(\.json))]
    }

    private static func group(of id: CheckID) -> Group {
        switch id {
        case .config, .configModes, .store, .keyring: .configuration
        case .upstream: .routes
        case .clock, .dns, .tls, .discovery, .jwks, .clientAuth, .token, .refreshToken, .redirectURI,
            .parDPoP:
            .identities
        case .proxyEnvironment, .descriptors, .sandbox, .systemd, .admin: .machine
        }
    }
}

extension Examination.Row {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.rawValue), "identity": identity.map { .string($0) } ?? .null,
            "result": .string(finding.result.rawValue), "seen": .string(finding.seen),
            "fix": finding.fix.map { .string($0) } ?? .null,
        ]
    }
}

extension Finding.Result {
    fileprivate var colour: TerminalText.Colour? {
        switch self {
        case .ok: .green
        case .warn: .yellow
        case .fail: .red
        case .skip: nil
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
