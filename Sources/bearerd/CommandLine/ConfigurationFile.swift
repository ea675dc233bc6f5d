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

    /// Reads and checks the file, and tells its problems on standard error.
    ///
    /// - Parameter tellsWarnings: false for commands that are called often and by scripts.
    /// - Returns: the configuration, which has no error.
    /// - Throws: a failure of configuration when there is an error among them.
    func load(tellingWarnings tellsWarnings: Bool = true) throws(CommandFailure) -> Configuration {
        let report = ConfigurationReport(path: path, environment: CurrentProcess.environment)
        if tellsWarnings || report.configuration == nil {
            for line in report.lines { Console.remark(line) }
        }
        guard let configuration = report.configuration else { throw CommandFailure(.configuration) }
        return configuration
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
