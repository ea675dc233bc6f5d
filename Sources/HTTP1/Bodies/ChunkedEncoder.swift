// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import BearerdSystem

/// Writes chunked transfer coding (RFC 9112 §7.1): `head`, the data and `dataEnd` for each chunk, then `end`.
package enum ChunkedEncoder {
    /// The most bytes of a size line: 16 digits, CR and LF.
    private static var mostOfSizeLine: Int { 18 }

    /// Appends the size line of a chunk of `count` bytes.
    ///
    /// Nothing is appended for 0, because a chunk of that size would end the content.
    package static func head(of count: Int, into output: inout ByteBlock) {
        guard count > 0 else { return }
        output.append(room: mostOfSizeLine) { line in
            var shift = (Int.bitWidth - 1 - count.leadingZeroBitCount) & ~3
            while shift >= 0 {
                let digit = UInt8(truncatingIfNeeded: count &>> shift) & 0xF
                line.append(digit < 10 ? Byte.zero + digit : Byte.lowerA + digit - 10)
                shift -= 4
            }
            line.append(Byte.carriageReturn)
            line.append(Byte.lineFeed)
        }
    }

    /// Appends the line end that follows a chunk's data.
    package static func dataEnd(into output: inout ByteBlock) {
        output.append(Byte.carriageReturn)
        output.append(Byte.lineFeed)
    }

    /// Appends the last chunk, the trailers if there are any, and the empty line.
    package static func end(trailers: HTTPFields? = nil, into output: inout ByteBlock) {
        output.append(Byte.zero)
        dataEnd(into: &output)
        if var trailers { trailers.serialize(into: &output) }
        dataEnd(into: &output)
    }
}
