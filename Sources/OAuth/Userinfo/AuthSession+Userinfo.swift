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
        if response.status == 401 {
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
            for header in state.configuration.userinfoHeaders {
                HTTPFields.Name(header.name).map { request.fields[$0] = header.value }
            }
            requestAuthorization.authorize(&request, with: token)
            return try await server.send(request)
        } catch {
            throw .server(error)
        }
    }
}
