// SPDX-License-Identifier: Apache-2.0

internal import System

/// The head of a request (RFC 9112 §3, §5).
///
/// Keep one and parse into it again and again: after the first few messages that allocates nothing.
package struct HTTPRequest: Sendable {
    /// The method.
    package var method: HTTPMethod
    /// The version it came with; ``serialize(into:)`` writes 1.1, whatever this says (RFC 9110 §2.5).
    package var version: HTTPVersion
    /// The header fields.
    package var fields: HTTPFields
    /// The request target's bytes.
    package internal(set) var targetBytes: [UInt8]
    /// Whether the client lets the connection live on after the response (RFC 9112 §9.3), as the parser found it.
    package internal(set) var isPersistent = true
    /// How the content ends (RFC 9112 §6.3, every doubt refused), as the parser found it.
    ///
    /// Kept beside the fields, because to ask a head that an object holds costs a copy of it.
    package internal(set) var framing = Result<BodyFraming, HTTPParseError>.success(.none)

    /// A request to be sent.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: in one of the forms of RFC 9112 §3.2; control bytes and spaces in it become percent-encoded.
    ///   - fields: the header fields.
    package init(method: HTTPMethod, target: String, fields: HTTPFields = HTTPFields()) {
        self.method = method
        self.version = .http11
        self.fields = fields
        self.targetBytes = []
        self.target = target
    }

    /// An empty one to parse into.
    package init() {
        method = .get
        version = .http11
        fields = HTTPFields()
        targetBytes = []
    }

    /// The request target as text, bytes that are no UTF-8 replaced.
    ///
    /// Setting percent-encodes bytes that would end a target.
    package var target: String {
        get { String(decoding: targetBytes, as: UTF8.self) }
        set {
            targetBytes.removeAll(keepingCapacity: true)
            for byte in newValue.utf8 {
                if byte > Byte.space, byte != Byte.delete {
                    targetBytes.append(byte)
                } else {
                    targetBytes.append(Byte.percent)
                    targetBytes.append(Byte.hexadecimalDigit(byte &>> 4))
                    targetBytes.append(Byte.hexadecimalDigit(byte & 0xF))
                }
            }
        }
    }

    /// Where the path ends and the query, with its `?`, begins.
    package var pathBytes: ArraySlice<UInt8> {
        targetBytes[..<(targetBytes.firstIndex(of: Byte.questionMark) ?? targetBytes.count)]
    }

    /// Changes the target's front, as an upstream's prefix and `strip_prefix` ask for.
    ///
    /// `*` stays as it is.
    ///
    /// - Parameters:
    ///   - prefix: put in front; without a slash at its end.
    ///   - count: that many bytes of the target are dropped before. What stays begins with a slash, or gets one.
    package mutating func setTarget(prefix: [UInt8], droppingFirst count: Int) {
        guard targetBytes.first != Byte.asterisk else { return }
        let dropped = min(max(count, 0), targetBytes.count)
        if dropped > 0 || !prefix.isEmpty {
            targetBytes.replaceSubrange(0..<dropped, with: prefix)
        }
        if targetBytes.count == prefix.count || targetBytes[prefix.count] != Byte.slash {
            targetBytes.insert(Byte.slash, at: prefix.count)
        }
    }

    /// Forgets everything but the memory.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        method = .get
        version = .http11
        isPersistent = true
        framing = .success(.none)
        targetBytes.removeAll(keepingCapacity: keepingCapacity)
        fields.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Appends the whole head, as HTTP/1.1, the empty line included.
    ///
    /// Changes nothing; but what an object holds is lent to a mutating method, and copied for any other.
    package mutating func serialize(into output: inout [UInt8]) {
        let room = method.rawValue.utf8.count &+ targetBytes.count &+ fields.serializedRoom &+ 16
        output.append(addingCapacity: room) { head in
            head.append(method.rawValue)
            head.append(Byte.space)
            head.append(targetBytes)
            head.append(literal: " HTTP/1.1\r\n")
            fields.serialize(into: &head)
            head.append(Byte.carriageReturn)
            head.append(Byte.lineFeed)
        }
    }
}
