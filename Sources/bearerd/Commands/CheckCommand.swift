// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdJSON
import BearerdObservability
import BearerdSystem

/// `bearerd check`: validates the configuration offline.
struct CheckCommand: Command {
    static let name = "check"
    static let summary = "validates the configuration offline and prints the route table"
    static let details = [
        "All errors and warnings of the file are told in one run, each with its place. The exit status is 0, or 78 if "
            + "there is an error.",
        "With --explain METHOD URL it tells instead which route a request takes, and which rule of its allow lets it "
            + "through; the URL is one that the client asks, or its path. The exit status is 0 if the request is passed on, "
            + "1 if not.",
    ]
    static let operand: String? = "URL"
    static let options = [json, quiet, explain]

    private static let json = CommandOption(
        "json", "as JSON: valid, errors, warnings, listen, protocols, admin, identities, routes")
    private static let quiet = CommandOption("quiet", "tells errors alone")
    private static let explain = CommandOption(
        "explain", value: "METHOD", "tells which route and rule a request to URL meets")

    /// The output for a usable configuration.
    private enum Form: Equatable {
        case tables
        case explanation(method: String, url: String)
        case json
        case nothing
    }

    private let file: ConfigurationFile
    private let form: Form

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard !arguments.has(Self.json) || !arguments.has(Self.quiet) else {
            throw CommandFailure(.usage, "--json and --quiet exclude each other")
        }
        if let method = arguments.value(Self.explain) {
            guard let url = arguments.operand, !arguments.has(Self.json), !arguments.has(Self.quiet) else {
                throw CommandFailure(.usage, "--explain needs a method and a URL, and stands alone")
            }
            form = .explanation(method: method, url: url)
        } else {
            if let word = arguments.operand {
                let hint = word.hintOfConfiguration ?? "only --explain METHOD takes a URL"
                throw CommandFailure(.usage, "unexpected argument '\(word)': \(hint)")
            }
            form = arguments.has(Self.json) ? .json : arguments.has(Self.quiet) ? .nothing : .tables
        }
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        guard form != .json else {
            let report = ConfigurationReport(path: file.path, environment: CurrentProcess.environment)
            try Console.show(report.json.line)
            return report.configuration == nil ? .configuration : .success
        }
        guard form != .nothing else {
            _ = try file.load(tellingErrorsAlone: true)
            return .success
        }
        let (configuration, warnings) = try file.load()
        if case .explanation(let method, let url) = form {
            let explanation = try RequestExplanation(method, url, by: configuration)
            try Console.show(explanation.text)
            return explanation.isAllowed ? .success : .failure
        }
        for warning in warnings { Console.remark(warning) }
        var text = TerminalText("\(file.path.printable): ")
        text.append("ok", .green)
        text.append("\n\n\(ConfigurationSummary(configuration).text)")
        try Console.show(text)
        return .success
    }
}
