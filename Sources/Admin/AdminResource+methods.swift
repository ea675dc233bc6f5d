// SPDX-License-Identifier: Apache-2.0

internal import AdminAPI
internal import HTTPMessages

extension AdminResource {
    /// Whether anybody may ask, whatever the Host and without a key: probes use the pod's address.
    var isOpen: Bool {
        switch self {
        case .health, .readiness, .metrics: true
        case .status, .events, .page, .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session,
            .quit,
            .reload, .login, .callback, .key:
            false
        }
    }

    /// Whether it changes something or asks the provider, and so takes POST and nothing else.
    var isAction: Bool {
        switch self {
        case .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session, .quit, .reload: true
        case .health, .readiness, .metrics, .status, .events, .page, .login, .callback, .key: false
        }
    }

    /// The methods it takes.
    var methods: [HTTPMethod] {
        switch self {
        case .key: [.post]
        // Who only looks must begin nothing.
        case .login, .callback: [.get]
        default: isAction ? [.post] : [.get, .head]
        }
    }

    /// Whether a page of another site may send a person here, by a link or a redirect.
    var isOpenToOtherSites: Bool {
        switch self {
        case .login, .callback: true
        default: false
        }
    }
}
