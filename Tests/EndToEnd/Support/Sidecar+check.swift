// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

extension Sidecar {
    /// Runs `bearerd check` on a configuration in a file `config.yaml`.
    static func check(_ settings: Settings) throws -> (exit: Int32, output: String, errors: String) {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let file = try directory.write(
            "config.yaml",
            configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "fake",
                directory: directory,
                settings))
        return try BearerdProcess.command("check", "-c", file)
    }
}
