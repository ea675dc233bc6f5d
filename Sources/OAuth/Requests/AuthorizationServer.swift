// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import JSON

/// The authorization server as one session sees it: where it is, how it wants to be asked, what it answers.
///
/// Confined to its session; never shared.
final class AuthorizationServer {
    private(set) var configuration: ClientConfiguration
    private var listings: [SecretListing]
    /// To the server's own endpoints.
    let transport: any TokenTransport
    /// To its protected resources, whose nonces are others (RFC 9449 §9).
    private let resourceTransport: any TokenTransport
    private(set) var credentials: CredentialReader
    let clock: any SessionClock
    private let discovery: CachedDiscovery
    let publishedKeys = PublishedKeys()
    /// What the next proof is to carry.
    let nonces = ProofNonces()

    /// The address whose answer is waited for.
    private(set) var pending: String?

    /// The Basic encoding that worked, where that is left to us.
    var learnedEncoding: BasicEncoding?

    init(
        configuration: ClientConfiguration, transport: any TokenTransport, credentials: any CredentialSource,
        clock: any SessionClock
    ) {
        self.configuration = configuration
        listings = configuration.listings
        resourceTransport = transport
        let transport: any TokenTransport =
            configuration.proofs == .never
            ? transport : NonceKeepingTransport(transport: transport, nonces: nonces)
        self.transport = transport
        self.credentials = CredentialReader(configuration: configuration, source: credentials)
        self.clock = clock
        discovery = CachedDiscovery(
            ServiceDiscovery(configuration: configuration, transport: transport), clock: clock)
    }

    /// Is asked as another client from now on; `secret` is that of one that was registered.
    func become(_ client: ClientConfiguration, secret: Secret?) {
        configuration = client
        listings = client.listings
        credentials.configuration = client
        credentials.registeredSecret = secret
        learnedEncoding = nil
    }

    /// The same server as another client sees it.
    func asked(by client: ClientConfiguration, secret: Secret?) -> AuthorizationServer {
        let other = AuthorizationServer(
            configuration: client, transport: transport, credentials: credentials.source, clock: clock)
        other.become(client, secret: secret)
        return other
    }

    // MARK: What it is asked

    /// Makes one token request.
    ///
    /// - Parameters:
    ///   - grant: what it is made with.
    ///   - additions: what only this request says.
    ///   - known: the key that the session's tokens are bound to, if there is one already.
    ///   - limit: for its answer; nil for the configured one.
    ///   - isNeedless: asked before anything is sent, for there may be much to find out first.
    func requestToken(
        with grant: Grant, adding additions: TokenAdditions = TokenAdditions(),
        proving known: ProofKey? = nil, waitingAtMost limit: Duration? = nil,
        unless isNeedless: () -> Bool = { false }
    ) async -> TokenOutcome {
        do throws(TokenFailure) {
            try grant.checkParameters(with: additions)
            let key = try await proofKey(known)
            func form() async throws(TokenFailure) -> FormBody {
                TokenRequestBody(
                    grant: grant, configuration: configuration, proof: try await proof(of: grant),
                    additions: additions
                ).form
            }
            let answered = try await exchange(
                try await form(), with: .token, adding: additions.headers, proving: key,
                waitingAtMost: limit, unless: isNeedless, again: form)
            if let failure = answered.failure {
                // The refresh token in it may be the only one that works.
                return TokenOutcome(
                    result: .failure(failure),
                    refreshToken: TokenAnswerMembers.refreshToken(inBroken: answered.response.body),
                    proofKey: key, sentAt: answered.sentAt, wall: answered.wall)
            }
            let answer = TokenAnswer(
                answered.response, to: grant, of: configuration, wall: answered.wall, isProved: key != nil)
            var result = answer.result.map { $0.proved(with: key) }
            if case .failure(let failure) = answer.result {
                doubtMetadata(after: failure)
                result = .failure(advised(failure, after: grant))
            }
            return TokenOutcome(
                result: result, refreshToken: answer.refreshToken,
                remainder: answer.remainder?.proved(with: key), proofKey: key, sentAt: answered.sentAt,
                wall: answered.wall)
        } catch {
            doubtMetadata(after: error)
            return TokenOutcome(
                result: .failure(error), refreshToken: nil, sentAt: clock.now, wall: clock.wallNow)
        }
    }

    /// Posts a form to one of the server's endpoints, with the client's proof of itself.
    ///
    /// - Parameter key: proved to be ours; nil for none.
    /// - Returns: the answer, whatever its status.
    /// - Throws: ``TokenFailure`` if there was no answer, or nothing could be asked: no such endpoint, a credential
    ///   that cannot be read.
    func post(
        _ parameters: FormBody, to endpoint: Endpoint, proving key: ProofKey? = nil
    ) async throws(TokenFailure) -> ProviderResponse {
        do throws(TokenFailure) {
            let response = try await exchange(parameters, with: endpoint, proving: key).response
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
    /// - Parameter isForResource: whether it is one of the server's protected resources that is asked.
    /// - Throws: ``TokenFailure`` if there was no answer, or the address is not fit for credentials.
    func send(
        _ request: TransferRequest, isForResource: Bool = false
    ) async throws(TokenFailure) -> ProviderResponse {
        try configuration.permit(request.url)
        pending = request.url.place
        defer { pending = nil }
        do throws(TransportError) {
            var response = try await (isForResource ? resourceTransport : transport).send(request)
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
    /// - Parameter age: what was read longer ago is read again, if that can be done; nil for what is usual.
    /// - Returns: nil for a server whose endpoints were given by hand and that publishes nothing.
    /// - Throws: ``TokenFailure`` if it says nothing just now, and never did.
    func metadataIfPublished(
        newerThan age: Duration? = nil
    ) async throws(TokenFailure) -> ServiceConfiguration? {
        guard configuration.issuer != nil || configuration.discoveryURL != nil else { return nil }
        do throws(TokenFailure) {
            return try await discovery.metadata(wanting: nil, newerThan: age)
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

    /// - Parameter again: makes the parameters for each further time that they are sent; nil for those that may be
    ///   sent again.
    private func exchange(
        _ parameters: FormBody, with endpoint: Endpoint, adding headers: [NamedValue] = [],
        proving key: ProofKey? = nil,
        waitingAtMost limit: Duration? = nil, unless isNeedless: () -> Bool = { false },
        again: (() async throws(TokenFailure) -> FormBody)? = nil
    ) async throws(TokenFailure) -> Exchange {
        try configuration.requireClient()
        let url = try await url(of: endpoint)
        var client = try await credentials.clientProof(for: audience, at: clock.wallNow)
        var (parameters, isFirst) = (parameters, true)
        func attempt(_ isFormEncoded: Bool) async throws(TokenFailure) -> Exchange {
            let first = try await attemptOnce(isFormEncoded)
            guard key != nil, first.response.asksForNonce else { return first }
            return try await attemptOnce(isFormEncoded)
        }
        func attemptOnce(_ isFormEncoded: Bool) async throws(TokenFailure) -> Exchange {
            if !isFirst {
                // An assertion is good for one use, the client's as the grant's (RFC 7523 §3, `jti`).
                client = try await credentials.clientProof(for: audience, at: clock.wallNow)
                if let again { parameters = try await again() }
            }
            isFirst = false
            var request = request(to: url)
            if let limit { request.wait(atMost: limit) }
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

    /// What a grant made from configuration is proved with.
    private func proof(of grant: Grant) async throws(TokenFailure) -> Secret? {
        if case .onBehalf(let token) = grant { return token }
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

extension HTTPFields {
    /// Puts headers in, each in the place of what is there under its name.
    mutating func replace(_ headers: [NamedValue]) {
        for header in headers {
            guard let name = HTTPFields.Name(header.name) else { continue }
            self[name] = header.value
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
