// SPDX-License-Identifier: Apache-2.0

/// How much content a message has, as far as its head tells, whatever protocol carries it (RFC 9110 §8.6).
package enum BodyLength: Equatable, Sendable {
    /// There is no content.
    case none
    /// As many bytes as `Content-Length` says; may be 0.
    case exact(UInt64)
    /// The content ends where its sender ends it.
    case open

    /// Whether the head says that nothing follows.
    package var isZero: Bool { self == .none || self == .exact(0) }
}
