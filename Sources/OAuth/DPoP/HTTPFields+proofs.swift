// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

extension HTTPFields.Name {
    /// A request's proof (RFC 9449 §4.1).
    package static let dpop = HTTPFields.Name(known: "DPoP")
    /// The nonce for the next proof (RFC 9449 §8.1).
    package static let dpopNonce = HTTPFields.Name(known: "DPoP-Nonce")
}
