// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

@testable import OAuth

/// A program has properties where bearerd's file has keys.
struct `A setting that an error names` {
    @Test(arguments: [
        (false, "look at clientID and client secret"), (true, "look at client_id and client_secret"),
    ])
    func `is a key of the file, for a client from a file`(isOfFile: Bool, words: String) async throws {
        let harness = SessionHarness {
            $0.isOfFile = isOfFile
            $0.authentication = .post
        }
        harness.secret.set("a-wrong-secret")
        harness.server.script(.status(401, #"{"error":"invalid_client"}"#))
        try await harness.run {
            let detail = await harness.session.status.lastError?.detail
            #expect(detail?.hasSuffix(words) == true, "\(detail ?? "nothing")")
        }
    }
}
