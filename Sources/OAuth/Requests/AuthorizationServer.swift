// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// The authorization server as one session sees it: its endpoints, the client authentication, its responses.
///
/// Confined to its session.
final class AuthorizationServer {
    private(set) var configuration: ClientConfiguration
    /// The first configured parameter or header that cannot be sent, as ``ClientConfiguration/problems`` has it; nil if there is
    /// none.
    private let flaw: String?
    private var listings: [SecretListing]
    /// Carries requests to the server's own endpoints.
    let transport: any TokenTransport
    /// Carries requests to its protected resources, which have other DPoP nonces (RFC 9449 §9).
    private let resourceTransport: any TokenTransport
    private(set) var credentials: CredentialReader
    let clock: any SessionClock
    private let discovery: CachedDiscovery
    let publishedKeys = PublishedKeys()
    /// The DPoP nonces of the server's own endpoints.
    let nonces = DPoPNonces()
    /// The URLs of requests without a response, or a program, for error messages; the oldest first.
    private var awaited: [String] = []
    /// The first of these; nil while there is none.
    var pending: String? { awaited.first }
    /// Host and port of the server that has answered the last request for a source's token; nil while it has not.
    var sourceAsked: String?
    /// The encoding of HTTP Basic that worked, if the configuration leaves it open.
    var learnedEncoding: BasicEncoding?

    init(
        configuration: ClientConfiguration, transport: any TokenTransport, credentials: any CredentialSource,
        clock: any SessionClock
    ) {
        self.configuration = configuration
        flaw = configuration.parameterProblems.first
        listings = configuration.listings
        resourceTransport = transport
        let transport = NonceKeepingTransport(transport: transport, nonces: nonces)
        self.transport = transport
        self.credentials = CredentialReader(configuration: configuration, source: credentials)
        self.clock = clock
        discovery = CachedDiscovery(
            ServiceDiscovery(configuration: configuration, transport: transport), clock: clock)
    }

    /// Asks as another client from now on; `secret` is that of a registered client.
    func become(_ client: ClientConfiguration, secret: Secret?) {
        configuration = client
        listings = client.listings
        credentials.configuration = client
        credentials.registeredSecret = secret
        learnedEncoding = nil
    }

    /// Returns a client of this server for another configuration.
    func asked(by client: ClientConfiguration, secret: Secret?) -> AuthorizationServer {
        let other = AuthorizationServer(
            configuration: client, transport: transport, credentials: credentials.source, clock: clock)
        other.become(client, secret: secret)
        return other
    }

    // MARK: Requests

    /// Makes one token request.
    ///
    /// - Parameters:
    ///   - known: the key that the session's tokens are bound to; nil while there is none.
    ///   - limit: how long to wait for the response; nil for the configured limit.
    ///   - maySend: called when the connection stands; returns false if nothing must be sent any more.
    ///   - isBarred: called each time before the request is sent; returns true if it must not be sent any more.
    func requestToken(
        with grant: Grant, adding additions: TokenAdditions = TokenAdditions(),
        proving known: ProofKey? = nil, waitingAtMost limit: Duration? = nil,
        if maySend: (@Sendable () -> Bool)? = nil, unless isBarred: () -> Bool = { false }
    ) async -> TokenRequestResult {
        if let source = configuration.source { return await requestToken(from: source) }
        do throws(TokenFailure) {
            try grant.checkParameters(with: additions)
            let key = try await proofKey(known, for: grant)
            func form() async throws(TokenFailure) -> FormBody {
                TokenRequestBody(
                    grant: grant, configuration: configuration, proof: try await proof(of: grant),
                    additions: additions
                ).form
            }
            let sent = try await send(
                try await form(), to: .token, adding: additions.headers, proving: key,
                waitingAtMost: limit, if: maySend, unless: isBarred, again: form)
            if let failure = sent.failure {
                return TokenRequestResult(
                    result: .failure(failure),
                    refreshToken: TokenRequestResult.refreshToken(inPartial: sent.response.body),
                    proofKey: key, sentAt: sent.sentAt, wall: sent.wall)
            }
            var result = TokenRequestResult(
                sent.response, to: grant, of: configuration, provedWith: key, sentAt: sent.sentAt,
                wall: sent.wall)
            if case .failure(let failure) = result.result {
                doubtMetadata(after: failure)
                result.result = .failure(advised(failure, after: grant))
            }
            return result
        } catch {
            doubtMetadata(after: error)
            return TokenRequestResult(result: .failure(error), sentAt: clock.now, wall: clock.wallNow)
        }
    }

    /// Posts a form to one of the server's endpoints, with client authentication and, given a key, a DPoP proof.
    ///
    /// - Returns: the response, whatever its status.
    /// - Throws: ``TokenFailure`` if there is no response, no such endpoint, or a credential cannot be read.
    func post(
        _ parameters: FormBody, to endpoint: Endpoint, proving key: ProofKey? = nil
    ) async throws(TokenFailure) -> TransportResponse {
        do throws(TokenFailure) {
            let response = try await send(parameters, to: endpoint, proving: key).response
            if Self.statusesOfNoEndpoint.contains(response.status) { discovery.doubt() }
            return response
        } catch {
            doubtMetadata(after: error)
            throw error
        }
    }

    /// The server's name for error messages.
    var name: String {
        configuration.issuer ?? (configuration.discoveryURL ?? configuration.endpoints[.token])?.place
            ?? "the provider"
    }

    /// Sends a request as it is.
    ///
    /// - Parameter isForResource: true for a protected resource of the server, such as the userinfo endpoint.
    /// - Throws: ``TokenFailure`` if there is no response, or credentials may not be sent to the URL.
    func send(
        _ request: TransferRequest, isForResource: Bool = false
    ) async throws(TokenFailure) -> TransportResponse {
        try configuration.permit(request.url)
        begin(awaiting: request.url.place)
        defer { end(awaiting: request.url.place) }
        do throws(TransportError) {
            var response = try await (isForResource ? resourceTransport : transport).send(request)
            response.place = request.url.place
            response.server = request.url.hostAndPort
            response.errorDescription = response.errorDescription(answering: request)
            return response
        } catch {
            throw TokenFailure(error, to: request)
        }
    }

    /// Notes that the response of `place` is awaited, until ``end(awaiting:)``.
    func begin(awaiting place: String) { awaited.append(place) }

    func end(awaiting place: String) {
        if let index = awaited.firstIndex(of: place) { awaited.remove(at: index) }
    }

    /// The server's metadata, of every document that it has.
    ///
    /// - Throws: ``TokenFailure`` if it has none, now or earlier.
    func metadata() async throws(TokenFailure) -> ServiceConfiguration {
        try await discover(wanting: nil)
    }

    /// The server's metadata, for a caller that can do without them.
    ///
    /// - Parameter age: older metadata are read again, if possible; nil for the usual age.
    /// - Returns: nil for a server with configured endpoints that publishes none.
    /// - Throws: ``TokenFailure`` if they cannot be had now, and never could.
    func metadataIfPublished(
        newerThan age: Duration? = nil
    ) async throws(TokenFailure) -> ServiceConfiguration? {
        guard configuration.issuer != nil || configuration.discoveryURL != nil else { return nil }
        do throws(TokenFailure) {
            return try await discover(wanting: nil, newerThan: age)
        } catch {
            guard configuration.endpoints[.token] != nil, error.reason == .noMetadata else {
                throw error
            }
            return nil
        }
    }

    /// Looks for metadata; whoever waits is told of the server meanwhile.
    private func discover(
        wanting endpoint: Endpoint?, newerThan age: Duration? = nil
    ) async throws(TokenFailure) -> ServiceConfiguration {
        begin(awaiting: name)
        defer { end(awaiting: name) }
        return try await discovery.metadata(wanting: endpoint, newerThan: age)
    }

    /// The URL of an endpoint, from the configuration or else from the server's metadata.
    ///
    /// - Throws: ``TokenFailure`` if neither has it.
    func url(of endpoint: Endpoint) async throws(TokenFailure) -> HTTPURL {
        if let flaw { throw TokenFailure(.misconfigured, .badParameter, detail: flaw) }
        if let configured = configuration.endpoints[endpoint] { return configured }
        guard configuration.issuer != nil || configuration.discoveryURL != nil else {
            throw TokenFailure(
                .misconfigured, .noEndpoint(endpoint),
                detail:
                    "no \(configuration.name(of: endpoint)) is configured, and no issuer whose metadata have it"
            )
        }
        let takesAlias = configuration.presentsCertificate
        let metadata = try await discover(wanting: takesAlias ? nil : endpoint)
        let alias = takesAlias ? metadata.aliases[endpoint] : nil
        if let discovered = alias ?? metadata.endpoints[endpoint] { return discovered }
        throw TokenFailure(
            .misconfigured, .noEndpoint(endpoint),
            detail: "neither configuration nor metadata of \(name) give a \(endpoint.rawValue)")
    }

    // MARK: Sending

    /// A request's response, and when the request was sent.
    private struct Sent {
        let response: TransportResponse
        /// Why the response is incomplete; nil if it is whole.
        let failure: TokenFailure?
        let sentAt: Instant
        let wall: WallTime
    }

    /// - Parameter again: makes the parameters anew for each repetition; nil for those that may be sent twice.
    private func send(
        _ parameters: FormBody, to endpoint: Endpoint, adding headers: [NamedValue] = [],
        proving key: ProofKey? = nil,
        waitingAtMost limit: Duration? = nil, if maySend: (@Sendable () -> Bool)? = nil,
        unless isBarred: () -> Bool = { false },
        again: (() async throws(TokenFailure) -> FormBody)? = nil
    ) async throws(TokenFailure) -> Sent {
        try configuration.requireClient()
        let url = try await url(of: endpoint)
        var client = try await credentials.clientProof(for: audience, at: clock.wallNow)
        var (parameters, isFirst) = (parameters, true)
        func attempt(_ isFormEncoded: Bool) async throws(TokenFailure) -> Sent {
            let first = try await attemptOnce(isFormEncoded)
            guard key != nil, first.response.asksForNonce else { return first }
            return try await attemptOnce(isFormEncoded)
        }
        func attemptOnce(_ isFormEncoded: Bool) async throws(TokenFailure) -> Sent {
            if !isFirst {
                // Assertions, the client's and the grant's, are good for one use (RFC 7523 §3, `jti`).
                client = try await credentials.clientProof(for: audience, at: clock.wallNow)
                if let again { parameters = try await again() }
            }
            isFirst = false
            var request = request(to: url)
            if let limit { request.wait(atMost: limit) }
            request.maySend = maySend
            var body = parameters
            if endpoint == .pushedAuthorizationRequest, client.namesClientInHeader {
                body.append(.clientID, configuration.clientID)
            }
            client.authenticate(
                configuration.clientID, &request.fields, &body, isFormEncoded: isFormEncoded)
            if endpoint == .token {
                request.fields.replace(configuration.tokenHeaders + headers)
                request.keepsPartialAnswer = true
            }
            if let key { try prove(&request, with: key) }
            request.body = body.bytes
            guard !isBarred() else {
                throw TokenFailure(TransportError.withheld, to: request)
            }
            let sentAt = clock.now
            let wall = clock.wallNow
            let response = try await send(request)
            let failure = response.cutOff.map { TokenFailure($0, to: request) }
            if let failure, !(200..<300 ~= response.status) { throw failure }
            return Sent(response: response, failure: failure, sentAt: sentAt, wall: wall)
        }
        return try await trying(client, attempt)
    }

    /// The statuses of a URL at which there is no endpoint, or none any more.
    private static let statusesOfNoEndpoint: Set = [404, 405, 410]

    /// Has the metadata fetched again that may name an endpoint where it was, and no longer is.
    private func doubtMetadata(after failure: TokenFailure) {
        switch failure.reason {
        case .status(let status) where Self.statusesOfNoEndpoint.contains(status): discovery.doubt()
        // A provider that is away for an hour is not asked for them each time.
        case .unreachable, .certificate, .timedOut, .interrupted, .notHTTP:
            discovery.doubt(ifOlderThan: .seconds(60))
        default: if failure.kind == .misconfigured { discovery.doubt() }
        }
    }

    /// Tries the encodings of HTTP Basic that are possible: form-encoded, then raw if that differs and may help.
    private func trying(
        _ client: ClientProof, _ attempt: (Bool) async throws(TokenFailure) -> Sent
    ) async throws(TokenFailure) -> Sent {
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

    /// The password, assertion or subject token of a grant.
    private func proof(of grant: Grant) async throws(TokenFailure) -> Secret? {
        if case .onBehalf(let token) = grant { return token }
        guard case .original = grant else { return nil }
        return try await credentials.grantProof(for: audience, at: clock.wallNow)
    }

    /// The `aud` of our assertions, as the server spells itself.
    private func audience() async throws(TokenFailure) -> String {
        switch configuration.assertion.audience {
        case .value(let value):
            return value
        case .issuer:
            if let issuer = configuration.issuer { return issuer }
            return try await discover(wanting: .token).issuer
        case .tokenEndpoint:
            if let configured = configuration.endpoints[.token] { return configured.description }
            let metadata = try await discover(wanting: .token)
            guard let endpoint = metadata.document[Endpoint.token.rawValue]?.string else {
                return try await url(of: .token).description
            }
            return endpoint
        }
    }
}

extension HTTPFields {
    /// Sets headers, each in place of those of its name.
    mutating func replace(_ headers: [NamedValue]) {
        for header in headers {
            guard let name = HTTPFields.Name(header.name) else { continue }
            self[name] = header.value
        }
    }
}

extension TransferRequest {
    /// Waits for the response at most for `limit` after the request was sent; sending is limited as before.
    fileprivate mutating func wait(atMost limit: Duration) {
        timeLimit = min(timeLimit, limit)
        sentTimeLimit = limit
    }
}
