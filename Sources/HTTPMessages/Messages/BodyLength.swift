// SPDX-License-Identifier: Apache-2.0

/// The length of a message's content as its head tells it, in any protocol (RFC 9110 §8.6).
package enum BodyLength: Equatable, Sendable {
    case none
    /// The length in `Content-Length`; may be 0.
    case exact(UInt64)
    /// The sender ends the content at any length.
    case open

    /// True if the head says that there is no content.
    package var isZero: Bool { self == .none || self == .exact(0) }
}
