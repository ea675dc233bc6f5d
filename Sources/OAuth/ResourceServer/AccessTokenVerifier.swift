// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
public import BearerdExecutorConfinement
import BearerdJSONText

/// Verifies the access tokens that requests to a resource server carry: JWTs of one issuer (RFC 9068), with proofs of
/// possession where they are bound to a key (RFC 9449).
///
/// It keeps the issuer's keys for an hour and fetches them anew for a signature that none fits, at most once in 30 s,
/// whatever requests carry. It asks for nothing before it is asked, and shares nothing with a session.
public actor AccessTokenVerifier: ExecutorConfined {
    /// The algorithms of proofs that are accepted.
    public static let proofAlgorithms: Set<JWSAlgorithm> = [.es256, .edDSA, .ps256, .rs256]
    /// Longer tokens are refused unread; in bytes.
    private static let longestToken = 64 * 1024
    /// Without keys, the time between two attempts to fetch them.
    private static let pauseWithoutKeys: Duration = .seconds(5)

    /// The executor that every method runs on.
    public nonisolated let executor: any SerialExecutor
    /// The rules for tokens.
    public nonisolated let rules: AccessTokenRules
    private let clock: any SessionClock
    private let server: AuthorizationServer
    private let keys = PublishedKeys(pausingWithoutKeys: pauseWithoutKeys)
    private var seen: SeenProofs

    /// A verifier on an executor of the program's.
    ///
    /// - Parameters:
    ///   - rules: the issuer, and what its tokens have to say.
    ///   - executor: runs the verifier; kept alive by it.
    ///   - clock: judges expiry and the age of proofs.
    ///   - transport: carries requests for metadata and keys.
    ///   - capacity: how many proofs are remembered at once, for twice `clockSkew`; 200 bytes each. One subject may
    ///     have half of them.
    public init(
        _ rules: AccessTokenRules, executor: any SerialExecutor, clock: any SessionClock,
        transport: any TokenTransport, rememberingProofs capacity: Int = 100_000
    ) {
        self.rules = rules
        self.executor = executor
        self.clock = clock
        var client = ClientConfiguration(name: rules.issuer, clientID: "", grantType: .clientCredentials)
        client.issuer = rules.issuer
        client.tokenTimeLimit = rules.timeLimit
        client.endpoints[.keys] = rules.keysURL
        server = AuthorizationServer(
            configuration: client, transport: transport, credentials: NoCredentials(), clock: clock)
        seen = SeenProofs(capacity: capacity)
    }

    /// Verifies the access token of a request.
    ///
    /// - Parameters:
    ///   - request: the parts of the request that are judged.
    ///   - scope: the scope tokens that the request needs, all of them.
    /// - Returns: the token's claims.
    /// - Throws: ``AccessTokenError``, whose `status` and `challenge` make the answer.
    public func verify(
        _ request: ResourceRequest, requiring scope: [String] = []
    ) async throws(AccessTokenError) -> VerifiedAccessToken {
        let credentials = try request.credentials()
        guard credentials.token.utf8.count <= Self.longestToken,
            let token = try? JWS(compact: credentials.token)
        else { throw .invalidToken(.malformed) }
        let verified = try rules.check(token, at: clock.wallNow)
        try await checkSignature(of: token)
        try checkBinding(of: verified, credentials, request)
        guard scope.allSatisfy(verified.scope.containsBytes(of:)) else { throw .insufficientScope(scope) }
        return verified
    }

    private func checkSignature(of token: JWS) async throws(AccessTokenError) {
        let flaw: JOSEError?
        do throws(TokenFailure) {
            flaw = try await keys.flaw(in: token, fetchingWith: server, isTrustedWithoutKeys: false)
        } catch {
            throw .unavailable(error)
        }
        guard flaw == nil else { throw .invalidToken(.signature) }
    }

    private func checkBinding(
        of verified: VerifiedAccessToken, _ credentials: ResourceRequest.Credentials,
        _ request: ResourceRequest
    ) throws(AccessTokenError) {
        switch verified.confirmation {
        case .key(let thumbprint):
            // RFC 9449 §7.2: a bound token must not be taken as a bearer token.
            guard credentials.scheme == .dpop else { throw .invalidToken(.binding) }
            let window = rules.clockSkew
            let proofs = DPoPProofRules(algorithms: Self.proofAlgorithms, window: window)
            let identifier = try proofs.check(
                request, token: credentials.token, boundTo: thumbprint, at: clock.wallNow)
            let subject = verified.subject ?? verified.clientID ?? thumbprint
            switch seen.show(
                identifier, of: thumbprint, by: subject, at: clock.now, keepingFor: window * 2)
            {
            case .new: break
            case .repeated: throw .invalidProof(.repeated)
            case .full:
                throw .unavailable(
                    TokenFailure(.transient, .noProof, detail: "too many proofs at once", retryAfter: window))
            }
        case .certificate(let thumbprint):
            guard credentials.scheme == .bearer, thumbprint.hasSameBytes(as: request.certificateThumbprint)
            else {
                throw .invalidToken(.binding)
            }
        case nil:
            guard rules.senderConstraint == .whereBound, credentials.scheme == .bearer else {
                throw .invalidToken(.binding)
            }
        case .unknown:
            throw .invalidToken(.binding)
        }
    }
}

/// The credentials of a resource server that only fetches keys: there are none.
private struct NoCredentials: CredentialSource {
    func read(_ credential: Credential) async throws(CredentialError) -> Secret? { nil }
}
