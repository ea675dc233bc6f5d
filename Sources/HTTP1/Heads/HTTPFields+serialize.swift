// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// Appends every field line, without the empty line that ends a head (RFC 9112 §5).
    ///
    /// Lines that are adjacent in the block are copied together.
    mutating func serialize(into output: inout ByteBlock) {
        output.append(room: serializedRoom) { serialize(into: &$0) }
    }

    /// The most bytes that ``serialize(into:)`` appends; a line may get a space that it lacked.
    var serializedRoom: Int { block.count &+ entries.count }

    /// Mutating, as ``HTTPRequest/serialize(into:)`` is.
    mutating func serialize(into output: inout OutputSpan<UInt8>) {
        output.append(fieldLines: entries.memory, entries.count, of: block.bytes)
    }
}
