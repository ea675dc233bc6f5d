// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@Suite struct `A secret` {
    private let secret = Secret("hunter2-hunter2-hunter2")

    @Test func `does not print itself in any way`() {
        var dumped = ""
        dump(secret, to: &dumped)
        let optional: Secret? = secret
        let texts = [
            "\(secret)", String(describing: secret), String(reflecting: secret), dumped,
            String(reflecting: ["key": secret]), String(describing: optional),
        ]
        for text in texts {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("redacted"))
        }
    }

    @Test func `is read only where plaintext is asked for`() {
        #expect(secret.withPlaintext { $0 } == "hunter2-hunter2-hunter2")
        #expect(secret.withPlaintextBytes { $0.count } == 23)
        #expect(Secret("").isEmpty)
    }

    @Test func `compares with its own bytes only`() {
        #expect(secret.matches(Array("hunter2-hunter2-hunter2".utf8)))
        #expect(!secret.matches(Array("hunter2-hunter2-hunter3".utf8)))
        #expect(!secret.matches([]))
        #expect(Secret("").matches([]))
    }
}
