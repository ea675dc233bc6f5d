// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `bearerd token` prints when the stored token is soon to end.
@Suite(.blocking) struct `The token that the command prints` {
    /// Runs the command until the token that it stored first is due for a refresh.
    ///
    /// - Returns: what the run printed that asked for another one.
    private func printed(_ provider: HostileProvider) throws -> String {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "secret-" + randomText(),
                directory: directory, .init(identity: "refresh_margin: 10s")))
        var printed = ""
        try eventually("the margin to begin") {
            let result = try BearerdProcess.command("token", "-c", file)
            #expect(result.exit == 0, "\(result.errors)")
            printed = result.output
            return provider.requests.count > 1
        }
        return String(printed.dropLast())
    }

    @Test func `is the next one where that is to be had`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "10" }
        #expect(try printed(provider) == provider.accessTokens.last)
        #expect(provider.requests.count == 2)
    }

    @Test func `is the old one where the provider fails`() throws {
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens(expiresIn: "10") })
        provider.always { _, _ in .response(503) }
        #expect(try printed(provider) == provider.accessTokens.first)
    }
}
