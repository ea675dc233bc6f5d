// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
package import OAuth

/// A resource of the admin listener; every path is spelled here, for clients and server.
package enum AdminResource: Hashable, Sendable {
    case health
    case readiness
    case metrics
    case status
    /// The content of ``status`` as server-sent events.
    case events
    case page
    /// Forces a refresh.
    case refresh(identity: String)
    /// Discards the present access token.
    case invalidate(identity: String)
    /// The claims about an identity's user.
    case userinfo(identity: String)
    /// Revokes one of an identity's tokens at the provider, or all of them without a hint.
    case revoke(identity: String, TokenHint?)
    /// Forgets an identity's session, and has the provider do the same unless `onlyHere`.
    case logout(identity: String, onlyHere: Bool)
    /// Registers a client for an identity at the provider.
    case register(identity: String)
    /// Takes over or finishes a session that a command began.
    case session(identity: String)
    case quit
    /// Reads the configuration again.
    case reload
    /// Redirects a browser to an identity's provider.
    case login(identity: String)
    /// Receives the redirect from the provider.
    case callback
    /// Takes the admin key that a person types into a page.
    case key

    /// The resources that belong to no identity.
    private static let fixed: [String: AdminResource] = [
        "/": .page, "/healthz": .health, "/readyz": .readiness, "/metrics": .metrics, "/callback": .callback,
        "/key": .key,
        "/api/status": .status, "/api/events": .events, "/api/quit": .quit, "/api/reload": .reload,
    ]

    /// The last segment of a path under an identity.
    private enum Verb: String {
        case refresh
        case invalidate
        case userinfo
        case revoke
        case logout
        case register
        case session
    }

    /// The last segment of the path of a logout that does not ask the provider.
    private static let onlyHere = "local"

    package init?(path: String) {
        if let resource = Self.fixed[path] {
            self = resource
            return
        }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        if segments.count == 2, segments[0] == "login" {
            guard let identity = PercentEncoding.decode(segments[1].utf8), !identity.isEmpty
            else { return nil }
            self = .login(identity: identity)
            return
        }
        guard 4...5 ~= segments.count, segments[0] == "api", segments[1] == "identities",
            let identity = PercentEncoding.decode(segments[2].utf8), let verb = Verb(rawValue: segments[3])
        else { return nil }
        if segments.count == 5 {
            if verb == .revoke, let hint = TokenHint(rawValue: segments[4]) {
                self = .revoke(identity: identity, hint)
            } else if verb == .logout, segments[4] == Self.onlyHere {
                self = .logout(identity: identity, onlyHere: true)
            } else {
                return nil
            }
            return
        }
        self =
            switch verb {
            case .refresh: .refresh(identity: identity)
            case .invalidate: .invalidate(identity: identity)
            case .userinfo: .userinfo(identity: identity)
            case .revoke: .revoke(identity: identity, nil)
            case .logout: .logout(identity: identity, onlyHere: false)
            case .register: .register(identity: identity)
            case .session: .session(identity: identity)
            }
    }

    package var path: String {
        func path(_ verb: Verb, _ identity: String) -> String {
            "/api/identities/\(PercentEncoding.encoded(identity))/\(verb.rawValue)"
        }
        switch self {
        case .refresh(let identity): return path(.refresh, identity)
        case .invalidate(let identity): return path(.invalidate, identity)
        case .userinfo(let identity): return path(.userinfo, identity)
        case .revoke(let identity, let hint):
            return path(.revoke, identity) + (hint.map { "/\($0.rawValue)" } ?? "")
        case .logout(let identity, let onlyHere):
            return path(.logout, identity) + (onlyHere ? "/\(Self.onlyHere)" : "")
        case .register(let identity): return path(.register, identity)
        case .session(let identity): return path(.session, identity)
        case .login(let identity): return "/login/\(PercentEncoding.encoded(identity))"
        case .health, .readiness, .metrics, .status, .events, .page, .quit, .reload, .callback, .key:
            return Self.fixed.first { $0.value == self }?.key ?? "/"
        }
    }
}
