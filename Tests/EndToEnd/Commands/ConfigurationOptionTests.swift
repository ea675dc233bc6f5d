// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `-c, --config FILE`.
@Suite(.blocking) struct `The option that names the configuration` {
    @Test(arguments: [
        ["schema"], ["version"], ["--version"], ["help"], ["help", "check"], ["completion", "bash"],
    ])
    func `is taken by commands that need none, too`(words: [String]) throws {
        let plain = try BearerdProcess.command(words)
        let named = try BearerdProcess.command(words + ["-c", "/nowhere/config.yaml"])
        #expect(named.exit == 0 && named.output == plain.output, "\(named)")
    }

    @Test func `is refused where there is no file to serve by`() throws {
        let result = try BearerdProcess.command(
            "proxy", "https://api.example", "--issuer", "https://sso.example", "--client-id", "a", "-c",
            "config.yaml")
        #expect(
            result.exit == 64 && result.errors.contains("'bearerd run -c FILE' serves by one"), "\(result)")
    }
}
