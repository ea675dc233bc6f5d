// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// Who logged in.
extension AuthSession {
    /// Asks the server for the claims about the user (OpenID Connect Core §5.3), with a fresh token.
    ///
    /// A token that the endpoint refuses is renewed once.
    ///
    /// - Parameter limit: for each token that has to be fetched.
    /// - Returns: the claims; their `sub` is that of the session's id token, if it has one.
    /// - Throws: ``SessionFailure``.
    public func userinfo(
        waitingAtMost limit: Duration = .seconds(10)
    ) async throws(SessionFailure) -> Userinfo {
        var response = try await userinfoAnswer(waitingAtMost: limit)
        if response.status == 401, !response.wantsNonce {
            do throws(TokenError) {
                try await refresh(waitingAtMost: limit)
            } catch {
                throw .token(error)
            }
            response = try await userinfoAnswer(waitingAtMost: limit)
        }
        do throws(TokenFailure) {
            let answer = try UserinfoAnswer(response)
            if let signed = answer.signed { try await server.verify(userinfo: signed) }
            return try answer.claims(about: state.session.idToken)
        } catch {
            throw .server(error)
        }
    }

    private func userinfoAnswer(
        waitingAtMost limit: Duration
    ) async throws(SessionFailure) -> ProviderResponse {
        let token: AccessTokenSnapshot
        do throws(TokenError) {
            token = try await freshToken(waitingAtMost: limit)
        } catch {
            throw .token(error)
        }
        do throws(TokenFailure) {
            var request = TransferRequest(
                method: .get, url: try await server.url(of: .userinfo),
                timeLimit: state.configuration.tokenTimeLimit)
            request.fields.append(.accept, "application/json")
            request.fields.replace(state.configuration.userinfoHeaders)
            let response = try await server.send(authorized(request, with: token), isForResource: true)
            let origin = ProofTarget(request.url).origin
            guard proofs.nonces.note(response.fields, from: origin), response.wantsNonce else {
                return response
            }
            let second = try await server.send(authorized(request, with: token), isForResource: true)
            proofs.nonces.note(second.fields, from: origin)
            return second
        } catch {
            throw .server(error)
        }
    }

    private func authorized(
        _ request: TransferRequest, with token: AccessTokenSnapshot
    ) async throws(TokenFailure) -> TransferRequest {
        var authorization = requestAuthorization
        do throws(JOSEError) {
            let authorized = try await authorization.authorize(
                request, at: ProofTarget(request.url), with: token, by: proofs)
            requestAuthorization = authorization
            return authorized
        } catch {
            throw TokenFailure(.transient, .noProof, detail: "the proof for DPoP cannot be signed")
        }
    }
}

extension ProviderResponse {
    /// Whether the endpoint, as a resource server, refuses the proof for its nonce alone: that says nothing of the token.
    fileprivate var wantsNonce: Bool {
        BearerChallenge.asksForNonce(status: status, fields.values(of: .wwwAuthenticate))
    }
}
