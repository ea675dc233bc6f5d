// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

extension AdminResource {
    /// True if anybody may ask, whatever the `Host` and without a key: probes use the pod's address.
    package var isOpen: Bool {
        switch self {
        case .health, .readiness, .metrics: true
        case .status, .events, .page, .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session,
            .quit,
            .reload, .login, .callback, .key:
            false
        }
    }

    /// True if it changes something or asks the provider, and so takes POST alone.
    package var isAction: Bool {
        switch self {
        case .refresh, .invalidate, .userinfo, .revoke, .logout, .register, .session, .quit, .reload: true
        case .health, .readiness, .metrics, .status, .events, .page, .login, .callback, .key: false
        }
    }

    /// True if the caller must be an owner of the daemon or have the key, on loopback too.
    ///
    /// An answer at the callback has a cookie instead, which only the browser that began the login has.
    package var changes: Bool {
        if case .login = self { true } else { isAction }
    }

    /// True if it needs the request's body.
    package var takesBody: Bool {
        switch self {
        case .session, .key: true
        default: false
        }
    }

    package var methods: [HTTPMethod] {
        switch self {
        case .key: [.post]
        // HEAD is refused: it must not begin a login.
        case .login, .callback: [.get]
        default: isAction ? [.post] : [.get, .head]
        }
    }

    /// True if a page of another site may link or redirect a person here.
    package var isOpenToOtherSites: Bool {
        switch self {
        case .login, .callback: true
        default: false
        }
    }
}
