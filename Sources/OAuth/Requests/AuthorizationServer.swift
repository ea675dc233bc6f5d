// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import JSON

/// The authorization server as one session sees it: where it is, how it wants to be asked, what it answers.
///
/// Confined to its session; never shared.
final class AuthorizationServer {
    private(set) var configuration: ClientConfiguration
    private let transport: any TokenTransport
    private(set) var credentials: CredentialReader
    let clock: any SessionClock
    private let discovery: CachedDiscovery
    let publishedKeys = PublishedKeys()

    /// The address whose answer is waited for.
    private(set) var pending: String?

    /// The Basic encoding that worked, where that is left to us.
    var learnedEncoding: BasicEncoding?

    init(
        configuration: ClientConfiguration, transport: any TokenTransport, credentials: any CredentialSource,
        clock: any SessionClock
    ) {
        self.configuration = configuration
        self.transport = transport
        self.credentials = CredentialReader(configuration: configuration, source: credentials)
        self.clock = clock
        discovery = CachedDiscovery(
            ServiceDiscovery(configuration: configuration, transport: transport), clock: clock)
    }

    /// Is asked as another client from now on; `secret` is that of one that was registered.
    func become(_ client: ClientConfiguration, secret: Secret?) {
        configuration = client
        credentials.configuration = client
        credentials.registeredSecret = secret
        learnedEncoding = nil
    }

    // MARK: What it is asked

    /// Makes one token request.
    ///
    /// - Parameters:
    ///   - limit: for its answer; nil for the configured one.
    ///   - isNeedless: asked before anything is sent, for there may be much to find out first.
    func requestToken(
        with grant: Grant, waitingAtMost limit: Duration? = nil, unless isNeedless: () -> Bool = { false }
    ) async -> TokenOutcome {
        do throws(TokenFailure) {
            let request = TokenRequest(
                grant: grant, configuration: configuration, proof: try await proof(of: grant))
            let answered = try await exchange(
                request.body, with: .token, waitingAtMost: limit, unless: isNeedless)
            if let failure = answered.failure {
                // The refresh token in it may be the only one that works.
                return TokenOutcome(
                    result: .failure(failure),
                    refreshToken: TokenResponse.refreshToken(inBroken: answered.response.body),
                    sentAt: answered.sentAt, wall: answered.wall)
            }
            let answer = TokenAnswer(
                answered.response, to: grant, of: configuration, wall: answered.wall)
            var result = answer.result
            if case .failure(let failure) = answer.result {
                doubtMetadata(after: failure)
                result = .failure(advised(failure, after: grant))
            }
            return TokenOutcome(
                result: result, refreshToken: answer.refreshToken, remainder: answer.remainder,
                sentAt: answered.sentAt, wall: answered.wall)
        } catch {
            doubtMetadata(after: error)
            return TokenOutcome(
                result: .failure(error), refreshToken: nil, sentAt: clock.now, wall: clock.wallNow)
        }
    }

    /// Posts a form to one of the server's endpoints, with the client's proof of itself.
    ///
    /// - Returns: the answer, whatever its status.
    /// - Throws: ``TokenFailure`` if there was no answer, or nothing could be asked: no such endpoint, a credential
    ///   that cannot be read.
    func post(
        _ parameters: FormBody, to endpoint: Endpoint
    ) async throws(TokenFailure) -> ProviderResponse {
        do throws(TokenFailure) {
            let response = try await exchange(parameters, with: endpoint).response
            if response.status == 404 { discovery.isDoubted = true }
            return response
        } catch {
            doubtMetadata(after: error)
            throw error
        }
    }

    /// The server as an error names it where no address of its own is at fault.
    var name: String {
        configuration.issuer ?? (configuration.discoveryURL ?? configuration.endpoints[.token])?.place
            ?? "the provider"
    }

    /// Sends a request as it is.
    ///
    /// - Throws: ``TokenFailure`` if there was no answer, or the address is not fit for credentials.
    func send(_ request: TransferRequest) async throws(TokenFailure) -> ProviderResponse {
        try configuration.permit(request.url)
        pending = request.url.place
        defer { pending = nil }
        do throws(TransportError) {
            var response = try await transport.send(request)
            response.place = request.url.place
            response.words = response.words(answering: request)
            return response
        } catch {
            throw TokenFailure(error, to: request)
        }
    }

    /// What the server says of itself, in every document that it has.
    ///
    /// - Throws: ``TokenFailure`` if it says nothing, and never did.
    func metadata() async throws(TokenFailure) -> ServiceConfiguration {
        try await discovery.metadata(wanting: nil)
    }

    /// What the server says of itself, where that is only good to know.
    ///
    /// - Returns: nil for a server whose endpoints were given by hand and that publishes nothing.
    /// - Throws: ``TokenFailure`` if it says nothing just now, and never did.
    func metadataIfPublished() async throws(TokenFailure) -> ServiceConfiguration? {
        guard configuration.issuer != nil || configuration.discoveryURL != nil else { return nil }
        do throws(TokenFailure) {
            return try await metadata()
        } catch {
            guard configuration.endpoints[.token] != nil, error.reason == .noMetadata else {
                throw error
            }
            return nil
        }
    }

    /// Where to send a request, from the configuration or else from the server's metadata.
    ///
    /// - Throws: ``TokenFailure`` if neither says it.
    func url(of endpoint: Endpoint) async throws(TokenFailure) -> HTTPURL {
        if let configured = configuration.endpoints[endpoint] { return configured }
        let takesAlias = configuration.presentsCertificate
        let metadata = try await discovery.metadata(wanting: takesAlias ? nil : endpoint)
        let alias = takesAlias ? metadata.aliases[endpoint] : nil
        if let discovered = alias ?? metadata.endpoints[endpoint] { return discovered }
        throw TokenFailure(
            .misconfigured, .noEndpoint(endpoint),
            detail: "neither configuration nor metadata of \(name) give a \(endpoint.rawValue)")
    }

    // MARK: How it is asked

    /// An answer, and when it was asked for.
    private struct Exchange {
        let response: ProviderResponse
        /// What follows from an answer that was cut off.
        let failure: TokenFailure?
        let sentAt: Instant
        let wall: WallTime
    }

    private func exchange(
        _ parameters: FormBody, with endpoint: Endpoint, waitingAtMost limit: Duration? = nil,
        unless isNeedless: () -> Bool = { false }
    ) async throws(TokenFailure) -> Exchange {
        try configuration.requireClient()
        let url = try await url(of: endpoint)
        let client = try await credentials.clientProof(for: audience, at: clock.wallNow)
        func attempt(_ isFormEncoded: Bool) async throws(TokenFailure) -> Exchange {
            var request = request(to: url)
            if let limit { request.wait(atMost: limit) }
            var body = parameters
            client.authenticate(
                configuration.clientID, &request.fields, &body, isFormEncoded: isFormEncoded)
            if endpoint == .token {
                addTokenHeaders(to: &request.fields)
                request.keepsPartialAnswer = true
            }
            request.body = body.bytes
            guard !isNeedless() else {
                throw TokenFailure(.transient, .superseded, detail: "nobody wants the answer any more")
            }
            let sentAt = clock.now
            let wall = clock.wallNow
            let response = try await send(request)
            let failure = response.cutOff.map { TokenFailure($0, to: request) }
            if let failure, !(200..<300 ~= response.status) { throw failure }
            return Exchange(response: response, failure: failure, sentAt: sentAt, wall: wall)
        }
        return try await trying(client, attempt)
    }

    private func doubtMetadata(after failure: TokenFailure) {
        if failure.kind == .misconfigured { discovery.isDoubted = true }
    }

    /// Tries the encodings of HTTP Basic that are open: form-encoded, then raw where that differs and may help.
    private func trying(
        _ client: ClientProof, _ attempt: (Bool) async throws(TokenFailure) -> Exchange
    ) async throws(TokenFailure) -> Exchange {
        switch configuration.basicEncoding {
        case .form: return try await attempt(true)
        case .raw: return try await attempt(false)
        case .automatic:
            guard client.dependsOnEncoding(configuration.clientID) else { return try await attempt(true) }
        }
        let isFormEncoded = learnedEncoding != .raw
        let first = try await attempt(isFormEncoded)
        guard first.response.mayBeAboutCredentials else {
            if 200..<300 ~= first.response.status { learnedEncoding = isFormEncoded ? .form : .raw }
            return first
        }
        learnedEncoding = nil  // it may have worked with another secret
        guard isFormEncoded else { return first }
        let second = try await attempt(false)
        if !second.response.mayBeAboutCredentials { learnedEncoding = .raw }
        return second
    }

    private func request(to url: HTTPURL) -> TransferRequest {
        var request = TransferRequest(method: .post, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.contentType, FormBody.contentType)
        request.fields.append(.accept, "application/json")
        return request
    }

    private func addTokenHeaders(to fields: inout HTTPFields) {
        for header in configuration.tokenHeaders {
            guard let name = HTTPFields.Name(header.name) else { continue }
            fields[name] = header.value
        }
    }

    /// What a grant made from configuration is proved with.
    private func proof(of grant: Grant) async throws(TokenFailure) -> Secret? {
        guard case .original = grant else { return nil }
        return try await credentials.grantProof(for: audience, at: clock.wallNow)
    }

    /// Whom our assertions are for, as the server spells itself.
    private func audience() async throws(TokenFailure) -> String {
        switch configuration.assertion.audience {
        case .value(let value):
            return value
        case .issuer:
            if let issuer = configuration.issuer { return issuer }
            return try await discovery.metadata(wanting: .token).issuer
        case .tokenEndpoint:
            if let configured = configuration.endpoints[.token] { return configured.description }
            let metadata = try await discovery.metadata(wanting: .token)
            guard let endpoint = metadata.document[Endpoint.token.rawValue]?.string else {
                return try await url(of: .token).description
            }
            return endpoint
        }
    }
}

extension TransferRequest {
    /// Waits for the answer for `limit`; getting the request on its way takes no longer than it may.
    fileprivate mutating func wait(atMost limit: Duration) {
        timeLimit = min(timeLimit, limit)
        sentTimeLimit = limit
    }
}
