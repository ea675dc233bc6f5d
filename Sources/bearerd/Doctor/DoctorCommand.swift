// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import BearerdSystem

/// `bearerd doctor`: finds out what keeps bearerd from working, and says what mends it.
struct DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "looks for what keeps bearerd from working, and says what mends it"
    static let details = [
        "Each line tells how it is (ok, warn, fail or skip), the check, what was seen, and the command or key that mends "
            + "it. The exit status is 0, 69 if a check has failed, or 78 if the configuration cannot be used.",
        "It changes nothing and asks for no token unless --live is given: then each identity gets a new token, and each "
            + "upstream is asked with it.",
    ]
    static let operand: String? = "IDENTITY"
    static let options = [check, json, live]

    private static let check = CommandOption("check", value: "ID", "tells of this check alone")
    private static let json = CommandOption("json", "as JSON: success, checks")
    private static let live = CommandOption("live", "gets new tokens, and tries them")

    private let file: ConfigurationFile
    private let identity: String?
    private let wanted: CheckID?
    private let isJSON: Bool
    private let isLive: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let word = arguments.value(Self.check)
        wanted = word.flatMap(CheckID.init(rawValue:))
        if let word, wanted == nil {
            let ids = CheckID.allCases.map(\.rawValue)
            let hint = NearMiss.hint(for: word, among: ids)
            throw CommandFailure(
                .usage,
                "--check: there is no '\(word)'\(hint.isEmpty ? " among \(ids.joined(separator: ", "))" : hint)"
            )
        }
        identity = arguments.operand
        isJSON = arguments.has(Self.json)
        isLive = arguments.has(Self.live)
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let report = ConfigurationReport(path: file.path, environment: CurrentProcess.environment)
        var rows = [
            Examination.Row(id: .config, identity: nil, finding: ConfigurationCheck.look(at: report))
        ]
        if let configuration = report.configuration {
            if let identity { _ = try IdentityChoice.choose(identity, in: configuration) }
            if wanted != .config { rows += try examine(configuration, report) }
        } else {
            rows += CheckID.allCases.dropFirst().map { id in
                Examination.Row(id: id, identity: nil, finding: .blocked(by: .config))
            }
        }
        let verdict = DoctorReport(
            rows.filter { wanted == nil || wanted == $0.id }, isUsable: report.configuration != nil)
        try Console.show(isJSON ? TerminalText(verdict.json.line) : verdict.text)
        return verdict.exitStatus
    }

    private func examine(
        _ configuration: Configuration, _ report: ConfigurationReport
    ) throws(CommandFailure) -> [Examination.Row] {
        // Before there is a loop: who gets a token may leave a copy of the process behind, which finishes that.
        let identities = configuration.identities.filter {
            (isLive || $0.client.source?.isReadFromFile ?? false)
                && (identity == nil || identity == $0.name) && !$0.client.exchangesCallersTokens
        }
        let asked = Dictionary(
            uniqueKeysWithValues: identities.map { ($0.name, renewalFailure(of: $0, configuration)) })
        return try CommandLoop.run { loop throws(CommandFailure) in
            var examination = Examination(
                try Patient(configuration, report, asked: asked, isLive: isLive, loop: loop))
            return await examination.rows(of: wanted, for: identity)
        }
    }

    /// Has an identity get a new token, as `refresh` does.
    private func renewalFailure(
        of identity: IdentityConfiguration, _ configuration: Configuration
    ) -> CommandFailure? {
        do throws(CommandFailure) {
            try ChosenIdentity(identity: identity, configuration: configuration).refresh()
            return nil
        } catch {
            return error
        }
    }
}
