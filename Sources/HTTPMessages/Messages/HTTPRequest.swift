// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The head of a request (RFC 9112 §3, §5).
///
/// Reuse one for parsing: after the first few messages that allocates nothing.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// The version of the received message; the codec sends its own (RFC 9110 §2.5).
    package var version: HTTPVersion
    package var fields: HTTPFields
    package var targetBytes: [UInt8]

    /// A request to send.
    ///
    ///   - Parameter target: in one of the forms of RFC 9112 §3.2; control bytes and spaces in it are
    ///     percent-encoded.
    package init(method: HTTPMethod, target: String, fields: HTTPFields = HTTPFields()) {
        self.method = method
        self.version = .http11
        self.fields = fields
        self.targetBytes = []
        self.target = target
    }

    /// An empty request to parse into.
    package init() {
        method = .get
        version = .http11
        fields = HTTPFields()
        targetBytes = []
    }

    /// The request target as text, with invalid UTF-8 replaced.
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

    /// The size of the head as HTTP/2 counts it, with 32 bytes for each field (RFC 9113 §6.5.2), or some bytes more.
    package var http2Size: Int {
        let (pseudoFields, more) = (160, 28)
        // What is not ASCII in the target is percent-encoded there.
        let encoded = 2 * targetBytes.count { $0 >= 0x80 }
        return fields.block.count + more * fields.count + targetBytes.count + encoded + pseudoFields
    }

    /// Forgets a request that is over, and leaves nothing of it in the memory that is kept: the token may stand in there.
    package mutating func wipe() {
        targetBytes.wipe()
        fields.wipe()
    }

    /// The path, up to the `?` of a query.
    package var pathBytes: ArraySlice<UInt8> {
        targetBytes[..<(targetBytes.firstIndex(of: Byte.questionMark) ?? targetBytes.count)]
    }

    /// Changes the beginning of the target, for an upstream's prefix and `strip_prefix`; `*` is not changed.
    ///
    /// - Parameters:
    ///   - prefix: the new beginning, without a slash at its end.
    ///   - count: the number of bytes to drop before. The rest begins with a slash, or gets one.
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

    /// Resets it, keeping the memory.
    package mutating func removeAll(keepingCapacity: Bool = true) {
        method = .get
        version = .http11
        targetBytes.removeAll(keepingCapacity: keepingCapacity)
        fields.removeAll(keepingCapacity: keepingCapacity)
    }
}
