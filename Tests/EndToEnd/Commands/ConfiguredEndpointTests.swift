// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// An identity whose endpoints are configured, without an issuer.
@Suite(.blocking) struct `An endpoint that nobody has named` {
    @Test func `is named with its key`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let file = try directory.write(
            "config.yaml",
            """
            listen: 127.0.0.1:0
            identities:
              default:
                client_id: app
                grant_type: authorization_code
                token_endpoint: "\(provider.issuer)/token"
                authorization_endpoint: "\(provider.issuer)/authorize"
            routes: [{path: /, upstream: "http://127.0.0.1:1", identity: default}]
            store: {type: file, directory: "\(directory.path("store"))"}
            """)
        let result = try BearerdProcess.command("login", "-c", file, "--device")
        #expect(result.exit == 78, "\(result.errors)")
        #expect(
            result.errors.contains("no device_authorization_endpoint is configured"), "\(result.errors)")
    }
}
