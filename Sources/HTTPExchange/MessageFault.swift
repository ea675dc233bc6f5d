// SPDX-License-Identifier: Apache-2.0

/// A defect of a message, as its sender is told, whatever protocol carries it (RFC 9110 §15.5).
package enum MessageFault: Equatable, Sendable {
    /// The bytes break the protocol's grammar, or two readers could understand them differently.
    case malformed
    /// The message breaks a rule that its sender can be told, in a few words.
    case breaking(rule: String)
    /// The target is longer than `limits.uri_bytes`.
    case targetTooLong
    /// The head is longer than `limits.header_bytes`.
    case headTooLarge
    /// The head has more fields than any message may have, whatever their size.
    case tooManyFields
    /// The fields are not encoded as HPACK has it (RFC 7541), or one of them is longer than its decoder takes.
    case undecodable
    /// The trailer section is longer, or has more fields, than it may.
    case trailersTooLarge
    /// The method is longer than any that bearerd knows.
    case methodTooLong
    /// The content has a transfer coding that bearerd cannot decode.
    case unknownCoding
    /// The protocol version is not supported.
    case unsupportedVersion

    /// A client begins TLS where plain HTTP is spoken.
    package static let handshake = MessageFault.breaking(
        rule: "TLS was begun, and plain HTTP is spoken here: the URL is http://, not https://")

    /// The status of the response to a client; for an upstream's response, every fault is a 502.
    package var status: Int {
        switch self {
        case .malformed, .breaking, .undecodable: 400
        case .targetTooLong: 414
        case .headTooLarge, .tooManyFields, .trailersTooLarge: 431
        case .methodTooLong, .unknownCoding: 501
        case .unsupportedVersion: 505
        }
    }
}
