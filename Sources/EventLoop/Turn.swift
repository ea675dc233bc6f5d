// SPDX-License-Identifier: Apache-2.0

/// How much a job of a loop may do before all others that are ready get their turn.
///
/// A connection whose bytes are always there would never wait, and nobody else be served. What counts are the bytes
/// that a job receives and sends; what takes time without moving any is set down as so many.
package enum Turn {
    /// In bytes: 256 KiB from one side to the other.
    static let allowance = 512 * 1024
    /// A system call, beside what it moves.
    static let callCost = 4 * 1024
    /// A request, whatever is answered: 16 of them are a turn.
    package static let requestCost = allowance / 16
    /// A piece of a body that is taken out of its framing, such as a chunk.
    package static let pieceCost = 512
}
