// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
import Synchronization

/// The newest DPoP nonce of each origin (RFC 9449 §8, §9), for any thread.
///
/// Authorization servers and resource servers have an instance each, because their nonces differ even
/// at one origin.
package final class DPoPNonces: Sendable {
    private static let longest = 1024
    /// Clients may choose the host of an origin where a route passes it on.
    private static let mostOrigins = 64

    private let newest = Mutex<[String: String]>([:])

    package init() {}

    /// The nonce for the next proof to `origin`; nil while none is known.
    package subscript(origin: String) -> String? { newest.withLock { $0[origin] } }

    /// Keeps the nonce of a response, whatever its status.
    ///
    /// - Returns: true if it has one.
    @discardableResult
    package func note(_ fields: HTTPFields, from origin: String) -> Bool {
        note(fields[.dpopNonce], from: origin)
    }

    /// Keeps the value of a response's `DPoP-Nonce`, if it is valid.
    @discardableResult
    package func note(_ nonce: String?, from origin: String) -> Bool {
        guard let nonce, Self.isNonce(nonce) else { return false }
        newest.withLock { newest in
            if newest[origin] == nil, newest.count >= Self.mostOrigins { newest.removeAll() }
            newest[origin] = nonce
        }
        return true
    }

    /// Returns true for a valid nonce of at most 1024 bytes (RFC 9449 §8.1).
    package static func isNonce(_ text: String) -> Bool {
        1...longest ~= text.utf8.count && text.utf8.allSatisfy(mayStandInNonce)
    }

    /// RFC 9449 §8.1, `NQCHAR`.
    private static func mayStandInNonce(_ byte: UInt8) -> Bool {
        0x21...0x7E ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

extension HTTPFields.Name {
    /// A request's proof (RFC 9449 §4.1).
    package static let dpop = HTTPFields.Name(known: "DPoP")
    /// The nonce for the next proof (RFC 9449 §8.1).
    package static let dpopNonce = HTTPFields.Name(known: "DPoP-Nonce")
}

/// A transport that keeps the DPoP nonce of every response, those of metadata and keys too (RFC 9449 §8.2).
///
/// A server may spend a refresh token before it checks the proof, so the first request should have the nonce.
struct NonceKeepingTransport: TokenTransport {
    let transport: any TokenTransport
    let nonces: DPoPNonces

    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        let response = try await transport.send(request)
        nonces.note(response.fields, from: request.url.origin)
        return response
    }
}
