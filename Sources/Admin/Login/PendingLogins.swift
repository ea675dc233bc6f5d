// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import BearerdSystem
internal import OAuth
internal import Synchronization

/// Logins that browsers have begun here and that wait for their redirect.
///
/// Each is valid for ten minutes, and only in the browser that began it. That has a separate cookie for each
/// login, so that several tabs can all finish. Beyond 64 logins the oldest is dropped.
final class PendingLogins: Sendable {
    /// A waiting login.
    struct Login: Sendable {
        let identity: String
        let request: AuthorizationRequest
        /// The right by which it was begun.
        let right: OwnerRight
        /// The proof that the browser which began the login holds in its cookie.
        let proof: Secret
        let cookie: Cookie
        let end: Instant
    }

    /// The meaning of a redirect.
    enum Outcome {
        /// It answers this login, which no longer waits.
        case answered(Login, AuthorizationRequest.Response)
        /// It answers this login, but is invalid; the login is over.
        case ended(Login, AuthorizationResponseError)
        /// It is not an answer; logins go on waiting.
        case refused(AuthorizationResponseError)
        /// No login waits for it: it is late, or a repetition, or answers no login of ours.
        case over
        /// It answers a login that this browser began with the previous daemon, which lost it when it ended.
        case before
        /// Another browser began the login.
        case otherBrowser
    }

    static let lifetime = Duration.seconds(600)
    private static let most = 64

    /// Limits the logins that are pushed to providers.
    let pushes: PushPace
    /// The start of the daemon, in milliseconds since 1970.
    ///
    /// A login's cookie contains it, so that the next daemon can tell the logins that ended with this one.
    let startedAt: Int64

    private let logins = Mutex<[Login]>([])
    private let now: @Sendable () -> Instant

    init(startedAt: Int64 = WallClock.unixMilliseconds, now: @escaping @Sendable () -> Instant) {
        self.now = now
        self.startedAt = startedAt
        pushes = PushPace(now: now)
    }

    /// The number of waiting logins.
    var count: Int { logins.withLock { $0.count } }

    /// Returns true if a login for an identity waits.
    func has(_ identity: String) -> Bool {
        let now = now()
        return logins.withLock { $0.contains { $0.identity == identity && now < $0.end } }
    }

    /// Records an authorization request whose answer is awaited.
    ///
    /// - Parameters:
    ///   - uri: the redirect URI of the request.
    ///   - right: the right by which somebody begins it.
    /// - Returns: the value of `Set-Cookie` for the browser.
    func begin(
        _ request: AuthorizationRequest, of identity: String, at uri: RedirectURI, by right: OwnerRight
    ) -> String {
        let proof = "\(SecureRandom.word()).\(startedAt)"
        let cookie = Cookie(
            name: request.state.withPlaintext(Self.cookieName), path: uri.path, isSecure: uri.scheme == .https
        )
        let now = now()
        let login = Login(
            identity: identity, request: request, right: right, proof: Secret(proof), cookie: cookie,
            end: now + Self.lifetime)
        logins.withLock { logins in
            logins.removeAll { $0.end <= now }
            if logins.count >= Self.most { logins.removeFirst(logins.count - Self.most + 1) }
            logins.append(login)
        }
        return cookie.kept(proof, for: Self.lifetime)
    }

    /// Forgets a login whose redirect cannot be received.
    func withdraw(_ request: AuthorizationRequest) {
        logins.withLock { $0.removeAll { $0.request.state.matches(request.state) } }
    }

    /// Matches a redirect with a login, if the browser proves that it began that login.
    ///
    /// - Parameters:
    ///   - query: the query of the redirect.
    ///   - fields: the fields of the same request.
    func answer(_ query: String, _ fields: HTTPFields) -> Outcome {
        guard let state = AuthorizationRequest.state(in: query) else { return .refused(.malformed) }
        let now = now()
        return logins.withLock { logins in
            logins.removeAll { $0.end <= now }
            guard let index = logins.firstIndex(where: { $0.request.state.matches(Array(state.utf8)) }) else {
                return isOfBefore(state, fields) ? .before : .over
            }
            let login = logins[index]
            guard login.cookie.values(in: fields).contains(where: { login.proof.matches(Array($0.utf8)) })
            else { return .otherBrowser }
            do throws(AuthorizationResponseError) {
                let response = try login.request.response(in: query)
                logins.remove(at: index)
                return .answered(login, response)
            } catch {
                guard error.endsLogin else { return .refused(error) }
                logins.remove(at: index)
                return .ended(login, error)
            }
        }
    }

    /// Returns true if the browser has a cookie of a previous daemon for this login.
    private func isOfBefore(_ state: String, _ fields: HTTPFields) -> Bool {
        let cookie = Cookie(name: Self.cookieName(of: state), path: "/")
        return cookie.values(in: fields).contains { value in
            value.split(separator: ".").last.flatMap { Int64($0) }.map { $0 != startedAt } ?? false
        }
    }

    /// The name of a login's cookie, which differs for each login and does not reveal the state.
    private static func cookieName(of state: String) -> String {
        let digest = SHA256.digest(Array(state.utf8))
        return OwnCookie.prefix + "login_" + Base64URL.encode(Array(digest.prefix(9)))
    }
}
