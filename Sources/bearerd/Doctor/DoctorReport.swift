// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import BearerdObservability

/// The output of doctor: line by line for people, or one document at the end for programs.
struct DoctorReport {
    private let isJSON: Bool
    /// True if only one check is reported, without headings and verdict.
    private let isOfOne: Bool
    private(set) var rows: [DoctorRow] = []
    private var title: String?

    init(isJSON: Bool, isOfOne: Bool) {
        self.isJSON = isJSON
        self.isOfOne = isOfOne
    }

    /// Takes a row, and shows it to a person.
    ///
    /// - Throws: a failure of output.
    mutating func add(_ row: DoctorRow) throws(CommandFailure) {
        rows.append(row)
        guard !isJSON else { return }
        var text = TerminalText()
        let title =
            row.id == .daemon
            ? row.id.rawValue : row.identity.map { "identity \($0)" } ?? row.id.group.rawValue
        if title != self.title, !isOfOne {
            text.append("\(self.title == nil ? "" : "\n")\(title.printable)\n")
        }
        self.title = title
        text.append(row.finding.result.rawValue.padded(to: 6), row.finding.result.colour)
        let name = row.id == .daemon ? row.identity ?? row.id.rawValue : row.id.rawValue
        let fix = row.finding.fix.map { "; mend: \($0)" } ?? ""
        text.append("\(name.printable.padded(to: 19))\((row.finding.seen + fix).printable)\n")
        try Console.show(text)
    }

    /// Says what it comes to.
    ///
    /// - Parameters:
    ///   - isUsable: whether the configuration can be used.
    ///   - next: what is to be done where nothing is to be mended; nil for nothing.
    /// - Returns: how the process ends.
    /// - Throws: a failure of output.
    func finish(isUsable: Bool, next: String?) throws(CommandFailure) -> ExitStatus {
        // The only check has found nothing out where what comes first has failed.
        let failed = rows.filter { row in
            row.finding.result == .fail
                || isOfOne && row.finding.result == .skip && row.finding.isBlocking && !row.isAboutUnused
        }
        let isSuccess = isUsable && failed.isEmpty
        if isJSON {
            let document: JSONValue = ["success": .bool(isSuccess), "checks": .array(rows.map(\.json))]
            try Console.show(document.line)
        } else if !isOfOne {
            try Console.show(verdict(failed, next))
        }
        return isUsable ? isSuccess ? .success : .unavailable : .configuration
    }

    /// The remedy as something to do: one that begins with a key says to look at that.
    private static func step(_ finding: Finding) -> String {
        let fix = finding.fix ?? finding.seen
        let word = fix.prefix { !" :,;".contains($0) }
        let isKey = !word.contains("/") && word.contains { "._[".contains($0) }
        return isKey ? "look at \(fix)" : fix
    }

    /// The last line: how many have failed, and the one thing to do now.
    private func verdict(_ failed: [DoctorRow], _ next: String?) -> TerminalText {
        let warnings = rows.filter { $0.finding.result == .warn }
        let noted = warnings.isEmpty ? "" : ", \(warnings.count) \(warnings.count == 1 ? "warns" : "warn")"
        var text = TerminalText("\n")
        if let first = failed.min(by: { $0.rank < $1.rank }) {
            text.append("\(failed.count) of \(rows.count) checks failed", .red)
            text.append("\(noted); next: \(Self.step(first.finding).printable)\n")
        } else if let first = warnings.first(where: { !$0.isAboutUnused }) ?? warnings.first {
            text.append("nothing has failed", .green)
            let steps = [next, Self.step(first.finding).printable].compactMap(\.self)
            text.append("\(noted); next: \(steps.joined(separator: "; "))\n")
        } else {
            text.append("all is well", .green)
            text.append("; next: \(next ?? "nothing is to be done")\n")
        }
        return text
    }
}

extension DoctorRow {
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
