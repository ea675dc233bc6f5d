// SPDX-License-Identifier: Apache-2.0

/// The result of a ``BodyDecoder`` for the bytes that it was given.
package enum BodyPiece: Equatable, Sendable {
    /// Content is at these offsets; the first `consumed` bytes are used up with it.
    case data(Range<Int>, consumed: Int)
    /// There is no more content in these bytes; the first `consumed` are used up, and the rest must be given
    /// again with more.
    case needMore(consumed: Int)
    /// The content and its trailers are complete; bytes from `consumed` on belong to the next message.
    case end(consumed: Int)
}
