// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdJSON

extension ServiceReply {
    static func bytes(_ body: [UInt8], contentType: String, status: Int = 200) -> ServiceReply {
        var head = HTTPResponse(status: status)
        head.fields[.contentType] = contentType
        return ServiceReply(head: head, body: .bytes(body))
    }

    static func text(_ text: String, status: Int = 200) -> ServiceReply {
        .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    static func json(_ value: JSONValue, status: Int = 200) -> ServiceReply {
        .bytes(value.serialized() + [0x0A], contentType: "application/json", status: status)
    }
}
