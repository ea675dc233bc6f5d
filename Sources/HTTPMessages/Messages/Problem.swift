// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// An error in an answer of bearerd's own (RFC 9457), for programs and people.
package struct Problem: Equatable, Sendable {
    /// `Content-Type` of ``body``.
    package static let mediaType = "application/problem+json"

    package let status: Int
    /// The stable code for programs, a member of our own.
    package let code: String
    /// The problem and its remedy; no secret.
    package let detail: String
    /// Further members for programs (RFC 9457 §3.2), each with its value as JSON.
    package let further: [Extension]

    package struct Extension: Equatable, Sendable {
        let name: String
        let json: [UInt8]

        package init(name: String, json: [UInt8]) {
            self.name = name
            self.json = json
        }
    }

    package init(status: Int, code: String, detail: String, further: [Extension] = []) {
        self.status = status
        self.code = code
        self.detail = detail
        self.further = further
    }

    /// The head of the answer, without `Content-Length`.
    package var head: HTTPResponse {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = Self.mediaType
        return head
    }

    /// The names of members that are read back.
    package enum Member {
        package static let detail = "detail"
        package static let code = "code"
    }

    /// The body, one line of JSON.
    package var body: [UInt8] {
        var body = Array(#"{"type":"about:blank","title":"#.utf8)
        body.append(jsonString: ReasonPhrase.of(status))
        body += #","status":\#(status),"\#(Member.detail)":"#.utf8
        body.append(jsonString: detail)
        body += #","\#(Member.code)":"#.utf8
        body.append(jsonString: code)
        for member in further {
            body.append(Byte.comma)
            body.append(jsonString: member.name)
            body.append(Byte.colon)
            body += member.json
        }
        body += "}\n".utf8
        return body
    }
}
