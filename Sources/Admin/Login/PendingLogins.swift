// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import OAuth
internal import BearerdSystem
internal import Synchronization

/// The logins that browsers have begun here, and whose redirects have not come yet.
///
/// Each is good for ten minutes and for the browser that began it: that has a cookie of its own for each, so that several
/// tabs all finish. Of more than 64 the oldest goes.
final class PendingLogins: Sendable {
    /// A login that waits.
    struct Login: Sendable {
        let identity: String
        let request: AuthorizationRequest
        /// What the browser shows that began it.
        let proof: Secret
        let cookie: Cookie
        let end: Instant
    }

    /// What becomes of a redirect.
    enum Outcome {
        /// It answers this login, which waits no longer.
        case answered(Login, AuthorizationRequest.Response)
        /// It answers this one, and is not believed: nobody waits any longer.
        case ended(Login, AuthorizationResponseError)
        /// It is no answer; whoever waits goes on.
        case refused(AuthorizationResponseError)
        /// Nobody waits for it: it is late, came before, or answers no login of ours.
        case over
        /// It answers a login that this browser began with the daemon before us, who took it along.
        case before
        /// Another browser began that login.
        case otherBrowser
    }

    static let lifetime = Duration.seconds(600)
    private static let most = 64

    /// How many of them are pushed to providers.
    let pushes: PushPace
    /// When the daemon was started, in milliseconds since 1970: what a browser keeps for a login says it, so that the next
    /// daemon can tell the logins that ended with this one.
    let startedAt: Int64

    private let logins = Mutex<[Login]>([])
    private let now: @Sendable () -> Instant

    init(startedAt: Int64 = WallClock.unixMilliseconds, now: @escaping @Sendable () -> Instant) {
        self.now = now
        self.startedAt = startedAt
        pushes = PushPace(now: now)
    }

    /// How many wait.
    var count: Int { logins.withLock { $0.count } }

    /// Whether a login of an identity waits.
    func has(_ identity: String) -> Bool {
        let now = now()
        return logins.withLock { $0.contains { $0.identity == identity && now < $0.end } }
    }

    /// Has the answer to a request waited for.
    ///
    /// - Parameter uri: the request's redirect URI.
    /// - Returns: the value of `Set-Cookie` for the browser that is to bring it.
    func begin(_ request: AuthorizationRequest, of identity: String, at uri: RedirectURI) -> String {
        let proof = "\(SecureRandom.word()).\(startedAt)"
        let cookie = Cookie(
            name: request.state.withPlaintext(Self.cookieName), path: uri.path, isSecure: uri.scheme == .https
        )
        let now = now()
        let login = Login(
            identity: identity, request: request, proof: Secret(proof), cookie: cookie,
            end: now + Self.lifetime)
        logins.withLock { logins in
            logins.removeAll { $0.end <= now }
            if logins.count >= Self.most { logins.removeFirst(logins.count - Self.most + 1) }
            logins.append(login)
        }
        return cookie.kept(proof, for: Self.lifetime)
    }

    /// Takes a redirect for the answer to the login that it names, if the browser shows that it began that one.
    ///
    /// - Parameters:
    ///   - query: of the redirect.
    ///   - fields: of the same request.
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

    /// Whether the browser kept something for this login that the daemon before us gave it.
    private func isOfBefore(_ state: String, _ fields: HTTPFields) -> Bool {
        let cookie = Cookie(name: Self.cookieName(of: state), path: "/")
        return cookie.values(in: fields).contains { value in
            value.split(separator: ".").last.flatMap { Int64($0) }.map { $0 != startedAt } ?? false
        }
    }

    /// Tells the logins of one browser apart, and tells nothing of the state.
    private static func cookieName(of state: String) -> String {
        let digest = SHA256.digest(Array(state.utf8))
        return OwnCookie.prefix + "login_" + Base64URL.encode(Array(digest.prefix(9)))
    }
}
