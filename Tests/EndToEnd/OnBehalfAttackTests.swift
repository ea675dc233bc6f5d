// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Callers of identities that exchange their tokens (`subject_token: from_request`) who mean no good, or have bad luck.
@Suite(.blocking) struct `A caller that is up to no good` {
    @Test func `gets no token of the service's by a grant that would never look at it`() throws {
        let directory = try TemporaryDirectory()
        let token = try directory.write("token", "a.b.c")
        let grants = [
            "grant_type: client_credentials", "grant_type: refresh_token", "grant_type: authorization_code",
            "preset: keycloak-k8s\n    assertion_file: \(token)",
            "preset: gcp-wif\n    assertion_file: \(token)",
        ]
        for grant in grants {
            let file = try directory.write(
                "config.yaml",
                """
                identities:
                  default:
                    issuer: https://sso.example.com/realms/x
                    client_id: app
                    subject_token: from_request
                    \(grant)
                routes: [{path: /, upstream: "https://api.example.com", identity: default}]
                """)
            for command in ["check", "run"] {
                let result = try BearerdProcess.command(command, "-c", file)
                #expect(result.exit == 78, "\(command) \(grant)")
                #expect(result.errors.contains("identities.default.subject_token: "), "\(result.errors)")
                #expect(result.errors.contains("grant_type: token_exchange"), "\(result.errors)")
            }
        }
    }
}
