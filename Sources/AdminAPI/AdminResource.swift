// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth

/// What a path of the admin listener names; every path is spelled here and nowhere else.
enum AdminResource: Equatable {
    case health
    case readiness
    case metrics
    case status
    case page
    case refresh(identity: String)
    case invalidate(identity: String)
    case userinfo(identity: String)
    case revoke(identity: String, [TokenHint])
    case logout(identity: String)
    case register(identity: String)
    case session(identity: String)
    case quit
    /// In the contract, but not built yet.
    case reload
    case login
    case callback

    /// Reads a path; nil when it names nothing.
    init?(path: String) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        switch segments.count {
        case 1:
            switch segments[0] {
            case "": self = .page
            case "healthz": self = .health
            case "readyz": self = .readiness
            case "metrics": self = .metrics
            case "callback": self = .callback
            default: return nil
            }
        case 2 where segments[0] == "login" && !segments[1].isEmpty: self = .login
        case 2 where segments[0] == "api":
            switch segments[1] {
            case "status": self = .status
            case "quit": self = .quit
            case "reload": self = .reload
            default: return nil
            }
        case 4 where segments[0] == "api" && segments[1] == "identities":
            guard let identity = PercentEncoding.decode(segments[2].utf8) else { return nil }
            switch segments[3] {
            case "refresh": self = .refresh(identity: identity)
            case "invalidate": self = .invalidate(identity: identity)
            case "logout": self = .logout(identity: identity)
            case "register": self = .register(identity: identity)
            case "session": self = .session(identity: identity)
            case "userinfo": self = .userinfo(identity: identity)
            case "revoke": self = .revoke(identity: identity, TokenHint.allCases)
            default: return nil
            }
        case 5 where segments[0] == "api" && segments[1] == "identities" && segments[3] == "revoke":
            guard let identity = PercentEncoding.decode(segments[2].utf8),
                let hint = TokenHint(rawValue: segments[4])
            else { return nil }
            self = .revoke(identity: identity, [hint])
        default: return nil
        }
    }

    /// Whether anybody may ask, whatever the Host and without a key: probes use the pod's address.
    var isOpen: Bool {
        switch self {
        case .health, .readiness, .metrics: true
        case .status, .page, .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session, .quit,
            .reload, .login, .callback:
            false
        }
    }

    /// Whether it changes something or asks the provider, and so takes POST and nothing else.
    var isAction: Bool {
        switch self {
        case .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session, .quit, .reload: true
        case .health, .readiness, .metrics, .status, .page, .login, .callback: false
        }
    }

    /// The methods it takes.
    var methods: [HTTPMethod] { isAction ? [.post] : [.get, .head] }
}
