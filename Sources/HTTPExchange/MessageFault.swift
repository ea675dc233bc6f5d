// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a message, as far as its sender is told, whatever protocol carries it (RFC 9110 §15.5).
package enum MessageFault: Equatable, Sendable {
    /// Not what the protocol's grammar allows, or what two readers could read in two ways.
    case malformed
    /// The target is longer than `limits.uri_bytes`.
    case targetTooLong
    /// The head, or the trailer section, is longer than `limits.header_bytes`, or has too many fields.
    case headTooLarge
    /// The method is longer than any that bearerd knows.
    case methodTooLong
    /// The content is coded in a way that nobody here can decode.
    case unknownCoding
    /// A version of the protocol that is not spoken here.
    case unsupportedVersion

    /// The status that says so to a client; of an upstream's answer every fault is a 502.
    package var status: Int {
        switch self {
        case .malformed: 400
        case .targetTooLong: 414
        case .headTooLarge: 431
        case .methodTooLong, .unknownCoding: 501
        case .unsupportedVersion: 505
        }
    }
}
