// SPDX-License-Identifier: Apache-2.0

internal import System

/// The head of a response (RFC 9112 §4, §5).
///
/// Keep one and parse into it again and again: after the first few messages that allocates nothing.
package struct HTTPResponse: Sendable {
    /// The status code, 100 to 999.
    package var status: Int
    /// The version it came with; ``serialize(into:)`` writes 1.1, whatever this says (RFC 9110 §2.5).
    package var version: HTTPVersion
    /// The header fields.
    package var fields: HTTPFields
    /// Whether the upstream lets the connection live on after the response (RFC 9112 §9.3), as the parser found it.
    ///
    /// A body that ends with the connection says otherwise, whatever the fields say.
    package internal(set) var isPersistent = true
    /// What the framing fields say, nil if there are none, as the parser found it.
    ///
    /// Kept beside the fields, because to ask a head that an object holds costs a copy of it.
    package internal(set) var framing = Result<BodyFraming?, HTTPParseError>.success(nil)
    /// The reason phrase's bytes, perhaps none.
    package internal(set) var reasonBytes: [UInt8]

    /// A response with the status' usual reason phrase.
    package init(status: Int, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.version = .http11
        self.fields = fields
        self.reasonBytes = Array(ReasonPhrase.of(status).utf8)
    }

    /// An empty one to parse into.
    package init() {
        status = 200
        version = .http11
        fields = HTTPFields()
        reasonBytes = []
    }

    /// The reason phrase, bytes that are no UTF-8 replaced.
    ///
    /// Setting leaves out control bytes.
    package var reason: String {
        get { String(decoding: reasonBytes, as: UTF8.self) }
        set { reasonBytes = newValue.utf8.filter(\.isFieldContent) }
    }

    /// Whether it only precedes the final response (RFC 9110 §15.2); 101 ends HTTP on the connection.
    package var isInterim: Bool { status < 200 && status != 101 }

    /// Forgets everything but the memory.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        status = 200
        version = .http11
        isPersistent = true
        framing = .success(nil)
        reasonBytes.removeAll(keepingCapacity: keepingCapacity)
        fields.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Appends the whole head, as HTTP/1.1, the empty line included.
    ///
    /// Changes nothing; but what an object holds is lent to a mutating method, and copied for any other.
    package mutating func serialize(into output: inout [UInt8]) {
        output.append(addingCapacity: 20 &+ reasonBytes.count &+ fields.serializedRoom) { head in
            head.append(literal: "HTTP/1.1 ")
            let code = min(max(status, 100), 999)
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code / 100))
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code / 10 % 10))
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code % 10))
            head.append(Byte.space)
            head.append(reasonBytes)
            head.append(Byte.carriageReturn)
            head.append(Byte.lineFeed)
            fields.serialize(into: &head)
            head.append(Byte.carriageReturn)
            head.append(Byte.lineFeed)
        }
    }
}
