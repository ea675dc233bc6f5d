// SPDX-License-Identifier: Apache-2.0

/// What a ``BodyDecoder`` found at the front of the bytes it was given.
package enum BodyPiece: Equatable, Sendable {
    /// Content stands at these offsets; everything before `upperBound` is used up.
    case data(Range<Int>)
    /// No more content in these bytes; the first `consumed` are used up, the rest comes again with more behind it.
    case needMore(consumed: Int)
    /// The content, and its trailers, are complete; bytes from `consumed` on belong to the next message.
    case end(consumed: Int)
}
