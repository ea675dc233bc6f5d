// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

extension HTTPFields.Name {
    /// RFC 9449 §4.1: a request's proof of possession.
    package static let dpop = HTTPFields.Name(known: "DPoP")
    /// RFC 9449 §8.1: what the next proof is to carry.
    package static let dpopNonce = HTTPFields.Name(known: "DPoP-Nonce")
}
