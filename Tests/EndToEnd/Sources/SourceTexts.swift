// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// Tokens and moments as sources give them.
enum SourceTexts {
    /// A JWT that ends so many seconds from now; nobody verifies it here.
    static func jwt(endingIn seconds: Int) -> String {
        let header = base64URL(#"{"alg":"none","typ":"JWT"}"#)
        return header + "." + base64URL(#"{"exp":\#(time(nil) + seconds),"sub":"\#(randomText())"}"#)
            + ".c2ln"
    }

    /// A moment so many seconds from now, as RFC 3339 has it.
    static func moment(in seconds: Int) -> String {
        var moment = time(nil) + seconds
        var parts = tm()
        gmtime_r(&moment, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// An upstream that takes every token but this one.
    static func upstream(refusing token: String) throws -> RawUpstream {
        try RawUpstream { request in
            request["Authorization"] == "Bearer \(token)" ? .unauthorized : .ok()
        }
    }

    private static func base64URL(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let bytes = Array(text.utf8)
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let word = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for index in 0...part.count { result.append(alphabet[word >> (18 - 6 * index) & 63]) }
        }
        return result
    }
}
