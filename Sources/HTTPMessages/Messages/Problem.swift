// SPDX-License-Identifier: Apache-2.0

internal import JSONText

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

    /// The names of members that are read again.
    package enum Member {
        package static let detail = "detail"
        package static let code = "code"
    }

    /// One line of JSON.
    package var body: [UInt8] {
        var body = Array(#"{"type":"about:blank","title":"#.utf8)
        body.append(jsonString: ReasonPhrase.of(status))
        body += #","status":\#(status),"\#(Member.detail)":"#.utf8
        body.append(jsonString: detail)
        body += #","\#(Member.code)":"#.utf8
        body.append(jsonString: code)
        body += "}\n".utf8
        return body
    }
}
