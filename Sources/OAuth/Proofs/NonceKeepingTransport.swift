// SPDX-License-Identifier: Apache-2.0

import HTTPMessages

/// A way to an authorization server that keeps the nonce of every answer, metadata and keys too (RFC 9449 §8.2).
///
/// A server that spends a refresh token before it judges the proof leaves no second try: the first should have the nonce.
struct NonceKeepingTransport: TokenTransport {
    let transport: any TokenTransport
    let nonces: ProofNonces

    func send(_ request: TransferRequest) async throws(TransportError) -> ProviderResponse {
        let response = try await transport.send(request)
        nonces.note(response.fields, from: request.url.origin)
        return response
    }
}
