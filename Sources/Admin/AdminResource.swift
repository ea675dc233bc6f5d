// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// What a path of the admin listener names; every path is spelled here and nowhere else.
enum AdminResource: Equatable {
    case health
    case readiness
    case metrics
    case status
    case page
    case refresh(identity: String)
    case invalidate(identity: String)
    case quit
    /// In the contract, but not built yet.
    case logout(identity: String)
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
            guard let identity = PercentEncoding.decode(segments[2]) else { return nil }
            switch segments[3] {
            case "refresh": self = .refresh(identity: identity)
            case "invalidate": self = .invalidate(identity: identity)
            case "logout": self = .logout(identity: identity)
            default: return nil
            }
        default: return nil
        }
    }

    /// Whether anybody may ask, whatever the Host and without a key: probes use the pod's address.
    var isOpen: Bool {
        switch self {
        case .health, .readiness, .metrics: true
        case .status, .page, .refresh, .invalidate, .quit, .logout, .reload, .login, .callback: false
        }
    }

    /// Whether it changes something, and so takes POST and nothing else.
    var isAction: Bool {
        switch self {
        case .refresh, .invalidate, .quit, .logout, .reload: true
        case .health, .readiness, .metrics, .status, .page, .login, .callback: false
        }
    }

    /// The methods it takes.
    var methods: [HTTPMethod] { isAction ? [.post] : [.get, .head] }
}
