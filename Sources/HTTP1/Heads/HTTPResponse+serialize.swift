// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPResponse {
    /// Appends the whole head as HTTP/1.1, including the empty line.
    ///
    /// It changes nothing, but is mutating so that a head in an object is not copied for the call.
    mutating func serialize(into output: inout ByteBlock) {
        output.append(room: 20 &+ reasonBytes.count &+ fields.serializedRoom) { head in
            head.append(literal: "HTTP/1.1 ")
            let code = min(max(status, 100), 999)
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code / 100))
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code / 10 % 10))
            head.append(Byte.zero + UInt8(truncatingIfNeeded: code % 10))
            head.append(Byte.space)
            head.append(copying: reasonBytes.span)
            head.append(Byte.carriageReturn)
            head.append(Byte.lineFeed)
            fields.serialize(into: &head)
            head.append(Byte.carriageReturn)
            head.append(Byte.lineFeed)
        }
    }

    /// Appends the same to an array.
    package mutating func serialize(into output: inout [UInt8]) {
        var head = ByteBlock()
        serialize(into: &head)
        output.append(head.bytes.span.extracting(0..<head.count))
    }
}
