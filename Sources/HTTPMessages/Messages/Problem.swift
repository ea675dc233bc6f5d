// SPDX-License-Identifier: Apache-2.0

/// What an answer of bearerd's own says is wrong (RFC 9457), for programs and for people.
package struct Problem: Equatable, Sendable {
    /// `Content-Type` of ``body``.
    package static let mediaType = "application/problem+json"

    /// Of the answer.
    package let status: Int
    /// The stable word for programs, a member of our own.
    package let code: String
    /// What is wrong, and what to do about it; no secret.
    package let detail: String

    package init(status: Int, code: String, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// The head of the answer; `Content-Length` is left to who sends it.
    package var head: HTTPResponse {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = Self.mediaType
        return head
    }

    /// One line of JSON.
    package var body: [UInt8] {
        var body = Array(#"{"type":"about:blank","title":"#.utf8)
        body.append(quoted: ReasonPhrase.of(status))
        body += #","status":\#(status),"detail":"#.utf8
        body.append(quoted: detail)
        body += #","code":"#.utf8
        body.append(quoted: code)
        body += "}\n".utf8
        return body
    }
}

extension [UInt8] {
    /// A JSON string (RFC 8259 §7).
    fileprivate mutating func append(quoted text: String) {
        append(Byte.quote)
        for byte in text.utf8 {
            switch byte {
            case Byte.quote, Byte.backslash:
                append(Byte.backslash)
                append(byte)
            case ..<0x20:
                let digits = String(byte, radix: 16)
                self += "\\u00\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8
            default:
                append(byte)
            }
        }
        append(Byte.quote)
    }
}
