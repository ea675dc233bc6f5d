// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// The userinfo endpoint.
extension AuthSession {
    /// Fetches the claims about the person (OpenID Connect Core §5.3).
    ///
    /// A token that the endpoint refuses is refreshed once.
    ///
    /// - Parameter limit: how long to wait for each token.
    /// - Returns: the claims; their `sub` is that of the session's ID token, if it has one.
    /// - Throws: ``SessionFailure``.
    public func userinfo(
        waitingAtMost limit: Duration = .seconds(10)
    ) async throws(SessionFailure) -> Userinfo {
        var (response, idToken) = try await userinfoResponse(waitingAtMost: limit)
        if response.status == 401, !response.wantsNonce {
            do throws(TokenError) {
                try await refresh(waitingAtMost: limit)
            } catch {
                throw .token(error)
            }
            (response, idToken) = try await userinfoResponse(waitingAtMost: limit)
        }
        do throws(TokenFailure) {
            let userinfo = try UserinfoResponse(response)
            if let signed = userinfo.signed { try await server.verify(userinfo: signed) }
            return try userinfo.claims(about: idToken)
        } catch {
            throw .server(error)
        }
    }

    /// - Returns: the response, and the ID token of the session that the access token is of.
    private func userinfoResponse(
        waitingAtMost limit: Duration
    ) async throws(SessionFailure) -> (TransportResponse, Secret?) {
        let token: AccessTokenSnapshot
        do throws(TokenError) {
            token = try await freshToken(waitingAtMost: limit)
        } catch {
            throw .token(error)
        }
        do throws(TokenFailure) {
            var request = TransferRequest(
                method: .get, url: try await server.url(of: .userinfo),
                timeLimit: server.configuration.tokenTimeLimit)
            request.fields.append(.accept, "application/json")
            request.fields.replace(server.configuration.userinfoHeaders)
            let response = try await server.send(authorized(request, with: token), isForResource: true)
            let origin = DPoPTarget(request.url).origin
            guard proofs.nonces.note(response.fields, from: origin), response.wantsNonce else {
                return (response, token.idToken)
            }
            let second = try await server.send(authorized(request, with: token), isForResource: true)
            proofs.nonces.note(second.fields, from: origin)
            return (second, token.idToken)
        } catch {
            throw .server(error)
        }
    }
}

extension TransportResponse {
    /// True if the endpoint refuses the proof for its nonce alone, which says nothing of the token.
    fileprivate var wantsNonce: Bool {
        BearerChallenge.asksForNonce(status: status, fields.values(of: .wwwAuthenticate))
    }
}

extension AuthorizationServer {
    /// Throws a ``TokenFailure`` unless the server signed these claims, with one of the keys that it publishes.
    fileprivate func verify(userinfo signed: JWS) async throws(TokenFailure) {
        guard try await publishedKeys.flaw(in: signed, fetchingWith: self) == nil else {
            throw TokenFailure(
                .misconfigured, .badSignature,
                detail: "the signature of the userinfo of \(name) does not verify")
        }
    }
}
