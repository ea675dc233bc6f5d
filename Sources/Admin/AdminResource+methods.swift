// SPDX-License-Identifier: Apache-2.0

internal import AdminAPI
internal import HTTPMessages

extension AdminResource {
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
