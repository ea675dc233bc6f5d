// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

extension AdminResource {
    /// Whether anybody may ask, whatever the Host and without a key: probes use the pod's address.
    package var isOpen: Bool {
        switch self {
        case .health, .readiness, .metrics: true
        case .status, .events, .page, .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session,
            .quit,
            .reload, .login, .callback, .key:
            false
        }
    }

    /// Whether it changes something or asks the provider, and so takes POST and nothing else.
    package var isAction: Bool {
        switch self {
        case .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session, .quit, .reload: true
        case .health, .readiness, .metrics, .status, .events, .page, .login, .callback, .key: false
        }
    }

    /// Whether who asks must be one of the daemon's owners, or have the key, on loopback too.
    ///
    /// An answer at the callback has a cookie that only who began the login got.
    package var changes: Bool {
        if case .login = self { true } else { isAction }
    }

    /// Whether it needs what is in a request's body.
    package var takesBody: Bool {
        switch self {
        case .session, .key: true
        default: false
        }
    }

    /// The methods it takes.
    package var methods: [HTTPMethod] {
        switch self {
        case .key: [.post]
        // Who only looks must begin nothing.
        case .login, .callback: [.get]
        default: isAction ? [.post] : [.get, .head]
        }
    }

    /// Whether a page of another site may send a person here, by a link or a redirect.
    package var isOpenToOtherSites: Bool {
        switch self {
        case .login, .callback: true
        default: false
        }
    }
}
