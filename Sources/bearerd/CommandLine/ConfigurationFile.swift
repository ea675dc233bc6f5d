// SPDX-License-Identifier: Apache-2.0

import Configuration
import System

/// The configuration file that a command works with.
struct ConfigurationFile {
    /// Its path as it was given or found.
    let path: String

    private static let standardPaths = ["config.yaml", "/etc/bearerd/config.yaml"]

    /// The file that `--config` names, else the first of the standard ones that is there.
    ///
    /// - Throws: a failure of configuration when there is none.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        if let path = arguments.value(.config) {
            self.path = path
            return
        }
        guard let path = Self.standardPaths.first(where: Self.isThere) else {
            let places = Self.standardPaths.joined(separator: " nor ")
            throw CommandFailure(
                .configuration, "no configuration: neither \(places) is there; name one with -c FILE")
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
