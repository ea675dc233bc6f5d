// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes

/// The authorization server as one session sees it: where it is, how it wants to be asked, what it answers.
///
/// Confined to its session; never shared.
final class AuthorizationServer {
    private let configuration: ClientConfiguration
    private let transport: any TokenTransport
    private let credentials: any CredentialSource
    private let clock: any SessionClock

    /// The last metadata that could be had.
    private var metadata: ServiceConfiguration?
    private var isMetadataDoubted = false
    /// The Basic encoding that worked, where that is left to us.
    var learnedEncoding: BasicEncoding?

    init(
        configuration: ClientConfiguration, transport: any TokenTransport, credentials: any CredentialSource,
        clock: any SessionClock
    ) {
        self.configuration = configuration
        self.transport = transport
        self.credentials = credentials
        self.clock = clock
    }

    /// Makes one token request.
    func requestToken(with grant: Grant) async -> TokenOutcome {
        let outcome: TokenOutcome
        do throws(TokenFailure) {
            outcome = try await send(TokenRequest(grant: grant, configuration: configuration))
        } catch {
            outcome = TokenOutcome(
                result: .failure(error), refreshToken: nil, sentAt: clock.now, wall: clock.wallNow)
        }
        if case .failure(let failure) = outcome.result, failure.kind == .misconfigured {
            isMetadataDoubted = true
        }
        return outcome
    }

    private func send(_ request: TokenRequest) async throws(TokenFailure) -> TokenOutcome {
        let url = try await endpoint(.token)
        let secret = try await clientSecret()
        let (isFormEncoded, alternative) = encodings(for: secret)
        let first = try await send(request, to: url, secret: secret, isFormEncoded: isFormEncoded)
        guard first.mayBeAboutCredentials else {
            if alternative != nil, case .success = first.result {
                learnedEncoding = isFormEncoded ? .form : .raw
            }
            return first
        }
        guard let alternative, isFormEncoded else {
            learnedEncoding = nil  // it may have worked with another secret
            return first
        }
        let second = try await send(request, to: url, secret: secret, isFormEncoded: alternative)
        guard !second.mayBeAboutCredentials else { return second }
        learnedEncoding = .raw
        return second
    }

    /// The encoding to try, and the one to try after it, if both are open and differ.
    private func encodings(for secret: Secret?) -> (isFormEncoded: Bool, alternative: Bool?) {
        switch configuration.basicEncoding {
        case .form: return (true, nil)
        case .raw: return (false, nil)
        case .automatic:
            guard configuration.authentication == .basic, let secret,
                BasicCredentials.dependOnEncoding(clientID: configuration.clientID, secret: secret)
            else { return (true, nil) }
            return learnedEncoding == .raw ? (false, true) : (true, false)
        }
    }

    private func send(
        _ request: TokenRequest, to url: HTTPURL, secret: Secret?, isFormEncoded: Bool
    ) async throws(TokenFailure) -> TokenOutcome {
        let message = request.providerRequest(to: url, secret: secret, isFormEncoded: isFormEncoded)
        let sentAt = clock.now
        let wall = clock.wallNow
        let response: ProviderResponse
        do throws(TransportError) {
            response = try await transport.send(message)
        } catch {
            throw TokenFailure(error)
        }
        let answer = TokenAnswer(response, to: request.grant, of: configuration, wall: wall)
        return TokenOutcome(
            result: answer.result, refreshToken: answer.refreshToken, sentAt: sentAt, wall: wall,
            mayBeAboutCredentials: answer.mayBeAboutCredentials)
    }

    private func clientSecret() async throws(TokenFailure) -> Secret? {
        do throws(CredentialError) {
            return try await credentials.clientSecret()
        } catch {
            throw TokenFailure(.misconfigured, code: "unreadable_secret", detail: error.reason)
        }
    }

    /// Where to send a request, from the configuration or else from the server's metadata.
    private func endpoint(_ endpoint: Endpoint) async throws(TokenFailure) -> HTTPURL {
        let url: HTTPURL
        if let configured = configuration.endpoints[endpoint] {
            url = configured
        } else if let discovered = try await metadata(wanting: endpoint).endpoints[endpoint] {
            url = discovered
        } else {
            throw TokenFailure(
                .misconfigured, code: "no_\(endpoint.rawValue)",
                detail: "neither configuration nor metadata give a \(endpoint.rawValue)")
        }
        try configuration.permit(url)
        return url
    }

    /// The server's metadata: fetched once, and again after an answer that casts doubt on it.
    private func metadata(wanting endpoint: Endpoint) async throws(TokenFailure) -> ServiceConfiguration {
        if let metadata, !isMetadataDoubted { return metadata }
        do throws(TokenFailure) {
            let discovery = ServiceDiscovery(configuration: configuration, transport: transport)
            let fresh = try await discovery.discover(wanting: endpoint)
            metadata = fresh
            isMetadataDoubted = false
            return fresh
        } catch {
            guard let metadata else { throw error }
            return metadata
        }
    }
}
