// SPDX-License-Identifier: Apache-2.0

import HTTPMessages

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
