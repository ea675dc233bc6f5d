// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdSystem

/// The configuration file that a command works with.
struct ConfigurationFile {
    /// The path of the file as it was given or found.
    let path: String

    /// In the working directory, the user's own (XDG base directories), the machine's.
    private static var standardPaths: [String] {
        func directory(_ variable: String) -> String? {
            // What is not absolute does not count.
            CurrentProcess.environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let own = directory("XDG_CONFIG_HOME") ?? directory("HOME").map { "\($0)/.config" }
        return ["config.yaml"] + [own, "/etc"].compactMap { $0.map { "\($0)/bearerd/config.yaml" } }
    }

    /// The file that `--config` names, else the first of the standard ones that is there.
    ///
    /// - Throws: a failure of configuration when there is none.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        if let path = arguments.value(.config) {
            self.path = path
            return
        }
        let paths = Self.standardPaths
        guard let path = paths.first(where: Self.isThere) else {
            throw CommandFailure(
                .configuration,
                "no configuration: none of \(paths.joined(separator: ", ")) is there; name one with -c FILE")
        }
        self.path = path
    }

    /// Reads and checks the file; if it has errors, tells all of its problems on standard error.
    ///
    /// - Returns: the configuration, and a line for each warning.
    /// - Throws: a failure of configuration when there is an error.
    func load() throws(CommandFailure) -> (configuration: Configuration, warnings: [String]) {
        let report = ConfigurationReport(path: path, environment: CurrentProcess.environment)
        guard let configuration = report.configuration else {
            for line in report.lines { Console.remark(line) }
            throw CommandFailure(.configuration)
        }
        return (configuration, report.lines)
    }

    /// A file that is there but cannot be looked at is read, so that the reason is told.
    private static func isThere(_ path: String) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(of: path) != nil
        } catch {
            return true
        }
    }
}
