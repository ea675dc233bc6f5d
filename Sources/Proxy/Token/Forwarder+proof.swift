// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import OAuth

/// Requests whose token is bound to a key (RFC 9449 §7).
extension Forwarder {
    /// Adds a DPoP proof for one sending of the request, with the newest nonce of the upstream.
    ///
    /// The signature is made on another thread, because it takes longer than everything else that a request
    /// costs here.
    func prove(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard let state = route.token, let token = exchange.token,
            let proof = RequestAuthorization.proof(
                of: token, for: exchange.client.request, at: proofTarget(of: exchange, on: route),
                nonces: state.session.proofs.nonces)
        else { return }
        let signed: String
        do throws(JOSEError) {
            signed = try await state.session.proofs.sign(proof)
        } catch {
            throw .misconfigured(retryAfter: nil)
        }
        RequestAuthorization.put(proof: signed, into: &exchange.client.request)
    }

    /// Keeps the nonce of a response, and returns true if the request must be sent again because only the
    /// nonce was refused.
    ///
    /// Such a refusal says nothing about the token. If the body was not kept whole the client gets it, and
    /// the next request has the nonce. A second nonce in a row is not tried.
    func wantsNewNonce(
        _ upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) async -> Bool {
        let isTold = noteNonce(of: upstream, exchange, on: route)
        guard isTold, upstream.response.asksForNonce, !exchange.repetition.hasNewNonce else { return false }
        return await keepsBody(exchange)
    }

    private func noteNonce(
        of upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) -> Bool {
        guard upstream.response.fields.has(.other), let nonces = route.token?.session.proofs.nonces else {
            return false
        }
        return nonces.note(upstream.response.fields, from: proofTarget(of: exchange, on: route).origin)
    }

    private func proofTarget(of exchange: Exchange, on route: RouteState) -> DPoPTarget {
        DPoPTarget(exchange.client.request, over: route.shared.address.url.scheme)
    }
}
