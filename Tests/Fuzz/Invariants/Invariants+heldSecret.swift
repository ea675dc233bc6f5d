// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

extension Invariants {
    /// Checks that a provider's text is shown without a held secret.
    ///
    /// The first line of the input is a secret that the process holds, the rest what stands around it.
    package static func violation(heldSecret bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let around = lines.count > 1 ? String(decoding: lines[1].prefix(130), as: UTF8.self) : ""
        let text = String(decoding: lines[0].prefix(30), as: UTF8.self)
        // Documents are no secrets that anybody is told.
        guard text.utf8.count >= 8, text.utf8.first != UInt8(ascii: "{"),
            !text.utf8.starts(with: "-----BEGIN".utf8),
            text.utf8.allSatisfy({ $0 >= 0x20 })
        else {
            _ = ErrorDescription(around, beside: nil, hiding: [])
            return nil
        }
        let secret = Secret(text)
        return withExtendedLifetime(secret) {
            let percent = text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            for writing in [text, percent, Base64.encode(Array(text.utf8))] {
                let said = ErrorDescription("\(around) \(writing) \(around)", beside: nil, hiding: [])
                guard said == nil else { return "a secret is shown: \(writing)" }
            }
            return nil
        }
    }
}
