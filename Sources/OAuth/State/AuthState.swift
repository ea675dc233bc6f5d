// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// What is known of one identity's tokens, and every rule about them.
///
/// A pure value: events are methods in the past tense, each told the time; what follows from them is read from
/// `nextAction(at:)`, `answer(at:until:)`, `published(at:)` and `nextMoment(after:)`. ``AuthSession`` does
/// the rest. Rules by topic: `AuthState+Renewal` (when to ask and what an answer means), `AuthState+Rejection` (what
/// resource servers think of a token), `AuthState+Store` (other processes, restarts), `AuthState+Status` (what
/// people see).
package struct AuthState: Sendable {
    /// The client as the configuration has it.
    let configured: ClientConfiguration
    /// The client that asks: the one that was registered with the server, if one was, else the configured one.
    var configuration: ClientConfiguration
    /// The server and client that our tokens belong to.
    var binding: String
    /// What our access tokens are asked for.
    let request: String

    /// What outlives the process.
    var session: StoredSession
    /// Whether `session` has changed since it was last stored or loaded.
    package internal(set) var isUnsaved = false
    /// Whether what the store holds has worked: it brought a newer session, or a resource server took its access token.
    var hasStoredWorked = false
    /// Whether the store holds less than `session`: somebody took it away, or put an older copy in its place.
    var isStoreBehind = false
    /// Whether `session` is a login or a logout that could not be stored: what the store holds is older, whatever its
    /// generation, unless somebody logged in or out since.
    var outranksStored = false
    /// Whether what is stored belongs to another client or server, and waits for a login to replace it.
    var holdsOthersSession = false
    /// What the store could not do when it was last asked.
    var storeTroubles: [StoreOperation: StoreTrouble] = [:]
    /// Whether a look at a store that could not be read is under way.
    var isBeingRead = false
    /// The access token of `session`, if it may be used; it may have expired.
    var access: AccessToken?
    /// The last lifetime a provider told, for answers that tell none.
    var knownLifetime: Duration?

    /// The one token request in flight.
    var attempt: Attempt?
    /// The last failure since the last success.
    var failure: LastFailure?
    /// Whether the server replaces refresh tokens; nil while that is not known.
    var rotates: Bool?
    /// Doubtful answers since the last success.
    var doubts = 0
    /// A person asked for a refresh: the next attempt waits for nothing and minds no final answer.
    var isAskedFor = false
    /// A token newer than this generation is wanted, whatever the present one's expiry.
    var demand: Int?
    /// Access tokens up to this generation are never used again.
    var invalidated = 0

    /// The generation of the newest token, if a resource server answered 401 to it.
    var unauthorized: Int?
    /// Routes that forced a refresh not long ago, or may not yet.
    var holdOffs: [String: HoldOff] = [:]
    /// Whether the next request asks for a renewal before it gets a token, though that has not expired.
    var isWithheld = false

    /// Whether the session is to end, and asks for tokens only where somebody waits for one.
    package private(set) var isLeaving = false
    /// Whether somebody waited for a token since then.
    var isAwaited = false

    /// A state that knows nothing.
    package init(_ configuration: ClientConfiguration) {
        configured = configuration
        self.configuration = configuration
        binding = configuration.binding
        request = configuration.requestDigest
        session = StoredSession(identity: configuration.name, generation: 0, binding: binding)
    }

    /// The session is to end: from here on it asks for tokens only where somebody waits for one.
    package mutating func leave() { isLeaving = true }

    /// Whether a session that needs no person was granted for another scope or audience than is asked for now: a refresh
    /// would bring that again (RFC 6749 §6).
    var wasGrantedForAnother: Bool {
        !configuration.grantType.needsPerson && session[request] == nil && !session.accessTokens.isEmpty
    }

    /// One token request in flight, from taking the store's lock to the end of storing its answer.
    struct Attempt: Sendable {
        /// The session's generation when it began: a later one in the store makes the request needless.
        let generation: Int
        /// Whether the request was made again because its answer was lost.
        var isRepeated = false
        /// Whether the answer to the refresh token is waited for by nobody any more who has a token, or other plans.
        var isSilent = false
        /// Whether a refresh token that the answer brought is stored ahead of the rest.
        var isRotationStored = false
        /// What the answer will make of the session, while that is being stored.
        var result: Result?

        enum Result: Sendable {
            case granted(AccessToken, StoredSession)
            case failed(LastFailure, StoredSession?)
        }
    }

    /// A failure, and when to ask again.
    struct LastFailure: Sendable {
        let failure: TokenFailure
        /// How many of its kind there were in a row.
        let count: Int
        var retry: Instant
        let at: WallTime
    }
}

extension ClientConfiguration {
    /// What a refresh token is bound to: sent to anybody else, it would be given away.
    public var binding: String {
        let server = issuer ?? endpoints[.token]?.description ?? discoveryURL?.description ?? ""
        // With another user's name, or another subject, an old refresh token would go on being somebody else's.
        return ([server, clientID] + [username, assertion.subject].compactMap(\.self)).joined(separator: " ")
    }

    /// Tells access tokens for different requests apart; a digest, because parameters may be secret.
    var requestDigest: String {
        var text = ""
        let exchange = [subjectTokenType, requestedTokenType].compactMap(\.self)
        for part in [[grantType.rawValue], scope, audience, resource] + (exchange.isEmpty ? [] : [exchange]) {
            text += part.joined(separator: "\u{1F}") + "\u{1E}"
        }
        if proofs != .never { text += "dpop\u{1E}" }
        // What was got without the profile it might refuse.
        if let profile { text += "\(profile.rawValue)\u{1E}" }
        for parameter in tokenParameters { text += "\(parameter.name)\u{1F}\(parameter.value)\u{1E}" }
        return Base64URL.encode(SHA256.digest(Array(text.utf8)))
    }
}
