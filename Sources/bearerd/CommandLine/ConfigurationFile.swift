// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// The configuration file of a command.
struct ConfigurationFile {
    /// The variable that names the file where `--config` does not.
    private static let variable = "BEARERD_CONFIG"

    /// The path of the file as it was given or found.
    let path: String
    /// True if the environment names the file, which whoever reads an error may not remember.
    private let isOfEnvironment: Bool

    /// The standard paths: the working directory's, the user's (XDG base directories), the machine's.
    private static var standardPaths: [String] {
        func directory(_ variable: String) -> String? {
            // A relative path does not count (XDG Base Directory).
            CurrentProcess.environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let own = directory("XDG_CONFIG_HOME") ?? directory("HOME").map { "\($0)/.config" }
        return ["config.yaml"] + [own, "/etc"].compactMap { $0.map { "\($0)/bearerd/config.yaml" } }
    }

    init(path: String) {
        self.path = path
        isOfEnvironment = false
    }

    /// The file that `--config` names, else `$BEARERD_CONFIG`, else the first of the standard ones that is there.
    ///
    /// - Throws: a failure of configuration when there is none.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let given = arguments.value(.config)
        guard given != "" else {
            throw CommandFailure(
                .usage, "the name of the configuration is empty: is a variable behind -c not set?")
        }
        if let path = given ?? Self.named {
            self.path = path
            isOfEnvironment = given == nil
            return
        }
        isOfEnvironment = false
        if let hint = arguments.operand?.hintOfConfiguration {
            throw CommandFailure(.usage, "unexpected argument '\(arguments.operand ?? "")': \(hint)")
        }
        let paths = Self.standardPaths
        guard let path = paths.first(where: Self.isThere) else {
            throw CommandFailure(
                .configuration,
                "no configuration: none of \(paths.joined(separator: ", ")) is there; name one with -c FILE or \(Self.variable), or let 'bearerd init' write one"
            )
        }
        self.path = path
    }

    /// The file that the environment names; an empty name is none.
    static var named: String? {
        CurrentProcess.environment(variable).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Finds the admin listener of the daemon that runs by the file; errors elsewhere in it are one warning.
    ///
    /// - Throws: a failure of configuration when the file leaves open where it listens.
    func daemonFile() throws(CommandFailure) -> DaemonFile {
        let report = ConfigurationReport(path: path, environment: CurrentProcess.environment)
        guard let file = DaemonFile(report) else {
            if Self.isThere(path) { for line in report.lines { Console.remark(line) } }
            throw CommandFailure(
                .configuration,
                advice ?? "\(path) leaves open where the daemon's admin listener is (admin.listen)")
        }
        return file
    }

    /// Words about the file itself, for an error in it; nil where the lines of the error say enough.
    var advice: String? {
        let origin = isOfEnvironment ? "; \(Self.variable) names it" : ""
        guard Self.isThere(path) else {
            let verb = isOfEnvironment ? "mend \(Self.variable)" : "name another one with -c FILE"
            return "there is no \(path)\(origin): \(verb), or let 'bearerd init' write it"
        }
        return isOfEnvironment ? "\(path) cannot be used\(origin)" : nil
    }

    /// The configuration of a report on the file; if there is none, its problems are told on standard error.
    ///
    /// - Throws: a failure of configuration when there is an error.
    func usable(
        _ report: ConfigurationReport, tellingErrorsAlone isBrief: Bool = false
    ) throws(CommandFailure) -> Configuration {
        guard let configuration = report.configuration else {
            // Of a file that is not there the advice says all.
            guard Self.isThere(path) else { throw CommandFailure(.configuration, advice ?? "") }
            for line in isBrief ? report.errorLines : report.lines { Console.remark(line) }
            throw CommandFailure(.configuration, advice ?? "")
        }
        return configuration
    }

    /// Reads and validates the file; prints its problems to standard error if it has errors.
    ///
    /// - Returns: the configuration, and a line for each warning.
    /// - Throws: a failure of configuration if there is an error.
    func load(
        tellingErrorsAlone isBrief: Bool = false
    ) throws(CommandFailure) -> (configuration: Configuration, warnings: [String]) {
        let report = ConfigurationReport(path: path, environment: CurrentProcess.environment)
        return (try usable(report, tellingErrorsAlone: isBrief), report.lines)
    }

    /// Returns true if the file exists, or cannot be looked at, so that reading it reports the reason.
    private static func isThere(_ path: String) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(of: path) != nil
        } catch {
            return true
        }
    }
}

extension String {
    /// The option to use, for a word on a command line that looks like a configuration file; nil for other words.
    var hintOfConfiguration: String? {
        guard hasSuffix(".yaml") || hasSuffix(".yml") else { return nil }
        return "a configuration file is named by -c \(self)"
    }
}
