// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// Tokens of a ``TokenSource``, as a token endpoint would give them.
extension AuthorizationServer {
    /// Asks the source once.
    func requestToken(from source: TokenSource) async -> TokenRequestResult {
        let (sentAt, wall) = (clock.now, clock.wallNow)
        sourceAsked = nil
        do throws(TokenFailure) {
            let response =
                switch source {
                case .fixed(let place): try await fixedToken(at: place, wall)
                case .basic(let username): try await basicCredentials(of: username)
                case .googleMetadata(let server, let account):
                    try await googleToken(of: account, from: server, wall)
                case .azureIdentity(let identity): try await azureToken(of: identity, wall)
                case .gitHubApp(let app): try await installationToken(of: app, wall)
                case .command(let command): try await printedToken(of: command, wall)
                }
            return TokenRequestResult(result: .success(response), sentAt: sentAt, wall: wall)
        } catch {
            let failure = error.at(error.server ?? sourceAsked)
            return TokenRequestResult(result: .failure(failure), sentAt: sentAt, wall: wall)
        }
    }

    /// Sends a request of a source.
    ///
    /// - Throws: ``TokenFailure`` if there is no whole response.
    func ask(_ request: TransferRequest) async throws(TokenFailure) -> TransportResponse {
        let response = try await send(request)
        sourceAsked = response.server
        if let failure = response.cutOff.map({ TokenFailure($0, to: request) }) { throw failure }
        return response
    }

    /// The meaning of a response without a token.
    func failure(of response: TransportResponse, _ wall: WallTime) -> TokenFailure {
        let error = ErrorResponse(
            response: response, body: ResponseBody(response.body), grant: .original,
            grantType: configuration.grantType, wall: wall)
        return error.failure
            ?? TokenFailure(.transient, .status(response.status), detail: response.failureDetail)
    }

    /// The token as it is now, with the expiry that a JWT names (RFC 7519 §4.1.4).
    private func fixedToken(at place: String, _ wall: WallTime) async throws(TokenFailure) -> TokenResponse {
        let token = try await credentials.require(.token)
        if let fault = token.fault(at: place, wall) { throw fault }
        guard let end = token.expiryOfJWT else {
            return TokenResponse(accessToken: token, lifetime: ClientConfiguration.longestLifetime)
        }
        return TokenResponse(
            accessToken: token, lifetime: min(end - wall, ClientConfiguration.longestLifetime))
    }

    /// The value of a `Basic` field: name and password in UTF-8, in base64 (RFC 7617 §2).
    private func basicCredentials(of username: String) async throws(TokenFailure) -> TokenResponse {
        let password = try await credentials.require(.password)
        guard password.plaintextBytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw TokenFailure(
                .misconfigured, .badCredential(.password),
                detail: "\(credentials.key(of: .password)) holds a control byte (RFC 7617 section 2)")
        }
        let pair = Array("\(username):".utf8) + password.plaintextBytes
        return TokenResponse(
            accessToken: Secret(bytes: Array(Base64.encode(pair).utf8)),
            lifetime: ClientConfiguration.longestLifetime)
    }
}

extension Secret {
    /// True if every byte may stand in a field behind a scheme.
    var isToken: Bool { !isEmpty && plaintextBytes.allSatisfy { 0x21...0x7E ~= $0 } }

    /// Why it cannot be sent as the token that `place` gives; nil if it can.
    package func fault(at place: String, _ wall: WallTime) -> TokenFailure? {
        guard isToken else {
            return TokenFailure(
                .misconfigured, .badCredential(.token),
                detail: "\(place) holds a space, a control byte or another byte that no token has")
        }
        guard let end = expiryOfJWT, end <= wall else { return nil }
        return TokenFailure(
            .misconfigured, .expiredOnArrival,
            detail: "the token in \(place) has expired: its exp is \(end.secondsSinceEpoch)")
    }

    /// The `exp` of a JWT, rounded down to seconds; nil for any other text.
    var expiryOfJWT: WallTime? {
        guard let seconds = withPlaintext({ try? JWS(compact: $0) })?.claims?["exp"]?.number,
            seconds.isFinite
        else { return nil }
        return WallTime(secondsSinceEpoch: Int64(min(max(seconds, -1e12), 1e12)))
    }
}
