// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPRequest {
    /// Appends the whole head as HTTP/1.1, including the empty line.
    ///
    /// It changes nothing, but is mutating so that a head in an object is not copied for the call.
    mutating func serialize(into output: inout ByteBlock) {
        let method = method.rawValue
        let room = method.utf8.count &+ targetBytes.count &+ fields.serializedRoom &+ 16
        output.append(room: room) { head in
            head.append(method)
            head.append(Byte.space)
            head.append(copying: targetBytes.span)
            head.append(literal: " HTTP/1.1\r\n")
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
