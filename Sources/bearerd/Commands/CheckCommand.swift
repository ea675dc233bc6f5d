// SPDX-License-Identifier: Apache-2.0

import Configuration
import JSON
import Observability
import System

/// `bearerd check`: judges the configuration without touching the network.
struct CheckCommand: Command {
    static let name = "check"
    static let summary = "validates the configuration offline and prints the route table"
    static let details = [
        "All errors and warnings of the file are told in one run, each with its place. The exit status is 0, or 78 if "
            + "there is an error."
    ]
    static let options = [json, quiet]

    private static let json = CommandOption(
        "json", "as JSON: valid, errors, warnings, listeners, identities, routes")
    private static let quiet = CommandOption("quiet", "tells errors alone")

    /// What is told of a configuration that can be used.
    private enum Form {
        case tables
        case json
        case nothing
    }

    private let file: ConfigurationFile
    private let form: Form

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard !arguments.has(Self.json) || !arguments.has(Self.quiet) else {
            throw CommandFailure(.usage, "--json and --quiet exclude each other")
        }
        form = arguments.has(Self.json) ? .json : arguments.has(Self.quiet) ? .nothing : .tables
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        guard form != .json else {
            let report = ConfigurationReport(path: file.path, environment: CurrentProcess.environment)
            try Console.show(report.json.line)
            return report.configuration == nil ? .configuration : .success
        }
        let (configuration, warnings) = try file.load()
        guard form != .nothing else { return .success }
        for warning in warnings { Console.remark(warning) }
        var text = TerminalText("\(file.path.printable): ")
        text.append("ok", .green)
        text.append("\n\n\(ConfigurationSummary(configuration).text)")
        try Console.show(text)
        return .success
    }
}
