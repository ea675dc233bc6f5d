// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdSystem
import OAuth

/// `bearerd doctor`: finds what keeps bearerd from working, and names the remedy.
struct DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "looks for what keeps bearerd from working, and says what mends it"
    static let details = [
        "A running daemon is asked first, then the file, each identity and its provider, each route's upstream and the "
            + "machine. The last line is the verdict, and the one next step.",
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
        if let identity, let configuration = report.configuration {
            _ = try IdentityChoice.choose(identity, in: configuration)
        }
        let asked = report.configuration.map(outcomes) ?? [:]
        return try CommandLoop.run { loop throws(CommandFailure) in
            try await examine(report, asked, loop)
        }
    }

    /// The running daemon first, then the file, then all that the file names.
    private func examine(
        _ report: ConfigurationReport, _ asked: [String: LiveOutcome], _ loop: EventLoop
    ) async throws(CommandFailure) -> ExitStatus {
        var output = DoctorReport(isJSON: isJSON, isOfOne: wanted != nil)
        func tell(_ row: DoctorRow) throws(CommandFailure) {
            if wanted == nil || wanted == row.id { try output.add(row) }
        }
        let renewed = asked.filter { $0.value.failure == nil }.keys
        let daemon = await DaemonView(report.admin, renewed: Set(renewed), loop: loop)
        let subject: DoctorSubject? =
            if let configuration = report.configuration {
                try DoctorSubject(
                    configuration, report, daemon: daemon, asked: asked, isLive: isLive, loop: loop)
            } else { nil }
        for row in DaemonCheck.rows(
            of: daemon, for: identity, among: subject?.identities ?? [],
            listen: report.configuration?.listen ?? [], file: report.file
        ) {
            try tell(row)
        }
        try tell(DoctorRow(id: .config, identity: nil, finding: ConfigurationCheck.look(at: report)))
        guard let subject else {
            for id in CheckID.allCases where id != .config && id != .daemon {
                try tell(DoctorRow(id: id, identity: nil, finding: .blocked(by: .config)))
            }
            return try output.finish(isUsable: false, next: nil)
        }
        var examination = Examination(of: subject, wanted: wanted, for: identity, after: output.rows)
        if wanted != .config, wanted != .daemon { try await examination.look(telling: tell) }
        let next = daemon.status == nil ? "bearerd run -c \(file.path)" : nil
        return try output.finish(isUsable: true, next: next)
    }

    /// Has each identity get a new token with `--live`, and always one that is only read from a file.
    ///
    /// It comes before there is a loop: who gets a token may leave a copy of the process behind, which finishes that.
    private func outcomes(_ configuration: Configuration) -> [String: LiveOutcome] {
        let identities = configuration.identities.filter {
            (isLive || $0.client.source?.isReadFromFile ?? false)
                && (identity == nil || identity == $0.name) && !$0.client.exchangesCallersTokens
        }
        return Dictionary(
            uniqueKeysWithValues: identities.map { ($0.name, outcome(of: $0, configuration)) })
    }

    /// Gets a new token for an identity as `refresh` does; one of a source, which nothing keeps, as `token` does.
    private func outcome(of identity: IdentityConfiguration, _ configuration: Configuration) -> LiveOutcome {
        let chosen = ChosenIdentity(identity: identity, configuration: configuration, file: file.path)
        do throws(CommandFailure) {
            guard isLive, identity.client.source != nil else {
                try chosen.refresh()
                return LiveOutcome()
            }
            let token = try chosen.ask { session throws(CommandFailure) in
                try await session.freshToken().token.withPlaintext { $0 }
            }
            return LiveOutcome(token: Secret(token))
        } catch {
            return LiveOutcome(failure: error)
        }
    }
}
