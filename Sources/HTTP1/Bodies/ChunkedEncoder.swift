// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Writes chunked transfer coding (RFC 9112 §7.1): `head`, the data and `dataEnd` for each chunk, then `end`.
package enum ChunkedEncoder {
    /// Appends the size line of a chunk of `count` bytes.
    ///
    /// Nothing is appended for 0, because a chunk of that size would end the content.
    package static func head(of count: Int, into output: inout [UInt8]) {
        guard count > 0 else { return }
        var shift = (Int.bitWidth - 1 - count.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: count &>> shift) & 0xF
            output.append(digit < 10 ? Byte.zero + digit : Byte.lowerA + digit - 10)
            shift -= 4
        }
        output.append(Byte.carriageReturn)
        output.append(Byte.lineFeed)
    }

    /// Appends the line end that follows a chunk's data.
    package static func dataEnd(into output: inout [UInt8]) {
        output.append(Byte.carriageReturn)
        output.append(Byte.lineFeed)
    }

    /// Appends the last chunk, the trailers if there are any, and the empty line.
    package static func end(trailers: HTTPFields? = nil, into output: inout [UInt8]) {
        output.append(Byte.zero)
        dataEnd(into: &output)
        if var trailers { trailers.serialize(into: &output) }
        dataEnd(into: &output)
    }
}
