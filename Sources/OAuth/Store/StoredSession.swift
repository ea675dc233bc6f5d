// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSON
import BearerdJSONText

/// The part of an identity that outlives the process.
///
/// A value of the engine that stores treat as a whole: ``encoded()`` makes bytes of it, ``init(decoding:)`` reads
/// them back.
public struct StoredSession: Sendable {
    private static let earlierImportsKept = 8

    /// The identity's name in the configuration.
    public package(set) var identity: String
    /// Counts the changes; of two sessions of one identity the one with the larger number is newer.
    public package(set) var generation: Int
    /// The authorization server and client the tokens belong to; under another one they are never sent.
    package var binding: String
    /// Drawn anew by each login or import, and carried along by refreshes: tells a new beginning from a continuation.
    package var origin = SecureRandom.word(bytes: 9)
    /// When somebody logged in or out, or imported it, later than what that took the place of; nil where a version wrote it
    /// that did not say.
    package var began: WallTime?
    /// One for each thing that access tokens are asked for.
    package var accessTokens: [StoredAccessToken] = []
    /// The newest refresh token; kept when it is refused, because an administrator may enable the user again.
    package var refreshToken: Secret?
    /// The digests of a refresh token and of the request that has brought it, `TOKEN REQUEST`, where that needed no person.
    ///
    /// A refresh for another request would bring what this one was granted for (RFC 6749 §6). It says nothing of a refresh
    /// token that somebody has put in the place of its own, such as an earlier version.
    var refreshOrigin: String?
    /// The key that the tokens are bound to, (RFC 9449): it changes with them, never alone.
    var proofKey: ProofKey?
    /// The newest ID token.
    package var idToken: Secret?
    /// The claims of the first ID token; nil before there is one, or where an earlier version has stored it.
    var loginClaims: LoginClaims?
    /// A login whose code is not exchanged yet.
    package var pendingCode: AuthorizationCode?
    /// A login that waits in a browser, as ``AuthorizationRequest/encoded()`` has it, for the URL that answers it.
    package var pendingRequest: Secret?
    /// Scope tokens granted.
    package var scope: [String]
    /// The scope that the login asked for, as configured then or of its own; nil where no login of this version began it.
    var loginScope: [String]?
    /// True if ``loginScope`` is that login's own, whatever is configured.
    var isLoginScopeOwn = false
    /// The final `error` after which nobody asks again until a person does; nil while all is well.
    package var refusal: ErrorCode?
    /// All other members of the authorization server's answers.
    package var additionalParameters = AdditionalParameters()
    /// When a token request last succeeded.
    package var lastRefresh: WallTime?
    /// The encoding that ``BasicEncoding/automatic`` found out.
    package var basicEncoding: BasicEncoding?
    /// The client that the server made for us.
    package var registration: ClientRegistration?
    /// The client that began what was imported, where it is another one than logs in: refresh tokens are bound to their
    /// client (RFC 6749 §6).
    package var grantClient: ClientRegistration?
    /// The person whose session it is by the word of another program.
    package var person: Person?
    /// True if a logout left it that was to leave the authorization server alone.
    var isEndOnlyHere = false
    /// A digest of the refresh token, if it was sent and nobody knows what became of it: the authorization server may have
    /// replaced it, and takes who sends it again for a thief (RFC 9700 §4.14.2).
    var doubtedToken: String?
    /// A digest of the refresh token that was imported: once it is rotated, importing it again would be reuse
    /// (RFC 9700 §4.14.2), which costs the whole session.
    package var importedToken: String?
    /// Those of imports before, which the authorization server had replaced when another session took their place.
    var earlierImports: [String] = []
    /// The client that ``pendingCode`` and ``pendingRequest`` are for, where the rest belongs to another one; see ``binding``.
    package var pendingBinding: String?
    /// Members of the record that this version does not know: kept for the one that does.
    var unknownMembers = JSONObject()

    /// A session that holds nothing yet.
    package init(identity: String, generation: Int, binding: String) {
        self.identity = identity
        self.generation = generation
        self.binding = binding
        scope = []
    }

    /// True if anything in it opens a resource, or brings what does.
    public var holdsTokens: Bool { refreshToken != nil || !accessTokens.isEmpty || pendingCode != nil }

    /// Tells if the refresh token was granted for a request; nil if nobody knows.
    func isGranted(for request: String) -> Bool? {
        guard let refreshOrigin, let digest = refreshToken?.digest, refreshOrigin.hasPrefix("\(digest) ")
        else {
            return nil
        }
        return refreshOrigin == "\(digest) \(request)"
    }

    /// True if somebody logged in, or brought it from another program.
    var isOfPerson: Bool { loginScope != nil || importedToken != nil || person != nil }

    /// The one that came last.
    package var newestAccessToken: StoredAccessToken? {
        accessTokens.max { $0.generation < $1.generation }
    }

    /// True if a person began it later than `other`: what they wanted before does not count any more.
    func begins(after other: StoredSession) -> Bool {
        binding.hasSameBytes(as: other.binding) && hasBegun(after: other)
    }

    /// True if it is a session of `configured`, or of a client that was registered in its place, or began it.
    package func belongs(to configured: ClientConfiguration) -> Bool {
        binding.hasSameBytes(as: configured.registered(registration).registered(grantClient).binding)
    }

    /// The digests of imported refresh tokens that the authorization server has replaced since, the newest first.
    var spentImports: [String] {
        let own = importedToken.flatMap { $0 == refreshToken?.digest ? nil : $0 }
        return Array(([own].compactMap(\.self) + earlierImports).prefix(Self.earlierImportsKept))
    }

    /// True if `token` was imported before, and replaced by the authorization server, and what is here now would be lost by
    /// it.
    package func isEndangered(by token: Secret) -> Bool {
        refreshToken != nil && earlierImports.contains(token.digest)
    }

    /// True if a person began it later than `other`, whichever clients the two belong to.
    func hasBegun(after other: StoredSession) -> Bool {
        guard origin != other.origin, let began, let before = other.began else { return false }
        return began > before
    }

    /// True if nobody but a person could bring back what it holds at `wall`: a login, or a client that the server made, unless
    /// a logout has ended its session.
    func isIrreplaceable(at wall: WallTime) -> Bool {
        if refreshToken != nil { return true }
        if registration != nil, began == nil || holdsTokens { return true }
        let isPersons = loginScope != nil || importedToken != nil || idToken != nil
        return isPersons && accessTokens.contains { $0.expiresAt > wall }
    }

    /// The moment at which a session begins that takes the place of this one: later, whatever the civil clock says.
    ///
    /// A clock that was set back, or is behind another machine's, must not make what a person ends or replaces count for
    /// more than what they did. Milliseconds are stored.
    func successorBegin(at wall: WallTime) -> WallTime {
        began.map { max(wall, $0 + .milliseconds(1)) } ?? wall
    }

    /// True if it, which is stored, counts more than `other`, which is in memory.
    ///
    /// Where both counted on from the same session the stored one does, because it is what all others go by.
    func supersedes(_ other: StoredSession) -> Bool {
        generation == other.generation ? differs(from: other) : generation > other.generation
    }

    /// True if it brought other tokens than `other`, which has its generation.
    private func differs(from other: StoredSession) -> Bool {
        guard binding.hasSameBytes(as: other.binding), !other.begins(after: self) else { return false }
        if origin != other.origin { return true }
        if let one = refreshToken, let two = other.refreshToken, !one.matches(two) { return true }
        guard let one = newestAccessToken, let two = other.newestAccessToken,
            one.generation == two.generation
        else { return false }
        return one.request != two.request || !one.token.matches(two.token)
    }

    /// True if somebody has ended it, and the authorization server should forget what others still get for it.
    ///
    /// A login that brought an access token alone is no such end: with the old token some providers would end it, too.
    var isEndedEverywhere: Bool { refreshToken == nil && accessTokens.isEmpty && !isEndOnlyHere }

    /// True if the refresh token may be spent.
    package var isDoubted: Bool { doubtedToken != nil && doubtedToken == refreshToken?.digest }

    /// Takes note that the refresh token may be spent.
    package mutating func doubt() { doubtedToken = refreshToken?.digest }

    /// The access token that was asked for by `request`.
    package subscript(request: String) -> StoredAccessToken? {
        get { accessTokens.first { $0.request == request } }
        set {
            accessTokens.removeAll { $0.request == request }
            if let newValue { accessTokens.append(newValue) }
        }
    }
}

extension StoredSession: Redacted {
    /// The name and the generation in one line; what a later version has added may be secret.
    public var description: String { "[session of \(identity), generation \(generation)]".onOneLine }
}

extension Secret {
    /// A digest that identifies the secret without revealing it.
    package var digest: String { Base64URL.encode(SHA256.digest(withPlaintext { Array($0.utf8) })) }
}
