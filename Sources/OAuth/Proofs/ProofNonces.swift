// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
import Synchronization

/// The newest nonce that each origin has told (RFC 9449 §8, §9); any thread may ask and tell.
///
/// Authorization servers and resource servers have one each, because the nonces of one mean nothing to the other, even
/// at one origin.
package final class ProofNonces: Sendable {
    private static let longest = 1024
    /// Clients may choose the host of an origin where a route passes it on.
    private static let mostOrigins = 64

    private let newest = Mutex<[String: String]>([:])

    package init() {}

    /// The nonce that the next proof for `origin` carries; nil while none is known.
    package subscript(origin: String) -> String? { newest.withLock { $0[origin] } }

    /// Keeps the nonce of an answer, whatever its status.
    ///
    /// - Returns: whether it has one.
    @discardableResult
    package func note(_ fields: HTTPFields, from origin: String) -> Bool {
        note(fields[.dpopNonce], from: origin)
    }

    /// Keeps the value of an answer's field `DPoP-Nonce`, if that is one.
    @discardableResult
    package func note(_ nonce: String?, from origin: String) -> Bool {
        guard let nonce, Self.isNonce(nonce) else { return false }
        newest.withLock { newest in
            if newest[origin] == nil, newest.count >= Self.mostOrigins { newest.removeAll() }
            newest[origin] = nonce
        }
        return true
    }

    /// Whether a text is one, of a length that a proof can carry (RFC 9449 §8.1).
    package static func isNonce(_ text: String) -> Bool {
        1...longest ~= text.utf8.count && text.utf8.allSatisfy(mayStandInNonce)
    }

    /// RFC 9449 §8.1, `NQCHAR`.
    private static func mayStandInNonce(_ byte: UInt8) -> Bool {
        0x21...0x7E ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
