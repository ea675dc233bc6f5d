// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import OAuth

/// A route's terms: changes to messages on their way, and time-outs of the upstream.
package struct RouteTerms: Sendable {
    /// The treatment of the client's own field that the token goes into.
    package enum AuthorizationPolicy: String, CaseIterable, Sendable {
        /// The token replaces the client's field.
        case overwrite
        /// The client's field is kept, and no token is added.
        case preserve
        /// The request is refused.
        case reject
    }

    /// The value of `Host` for the upstream.
    package enum HostField: Hashable, Sendable {
        /// The upstream's own authority.
        case upstream
        /// The client's value.
        case preserve
        /// This text.
        case value(String)
    }

    /// The treatment of `X-Forwarded-For`, `-Proto` and `-Host`.
    package enum ForwardedPolicy: Sendable {
        /// Nothing is added; the client's fields stay.
        case none
        /// Our own knowledge replaces what the client claims.
        case replace
        /// Our peer is added to `-For`; the other two stay if they are there.
        case append
    }

    /// The treatment of a request without a token.
    package enum TokenlessPolicy: String, CaseIterable, Sendable {
        case fail
        case pass
    }

    /// True if the route's path is removed first.
    package var stripsPrefix = false
    /// The requests that are allowed; nil for all.
    package var rules: RequestRules?
    package var authorization = AuthorizationPolicy.overwrite
    /// The field and scheme of the token.
    package var credentials = RequestAuthorization.Field()
    /// The parameter of the target that the token goes into; nil for a field.
    package var tokenQuery: QueryParameter?
    package var hostField = HostField.upstream
    package var requestEdits = FieldEdits()
    package var responseEdits = FieldEdits()
    package var forwarded = ForwardedPolicy.none
    /// True if we add ourselves to `Via`.
    package var via = true
    /// Protocols that a client may upgrade to, in lower case.
    package var upgrade: Set<String> = ["websocket"]
    /// Statuses that force a refresh and one replay.
    package var retryOnStatus: Set<Int> = [401]
    /// The longest request body that is kept for a replay, in bytes.
    package var replayBuffer = 64 << 10
    package var onNoToken = TokenlessPolicy.fail
    package var timeouts = UpstreamTimeouts()

    package init() {}

    /// Returns true if a client may upgrade to the protocol; HTTP/2 is none that it upgrades to.
    package func passes(protocol name: String) -> Bool {
        let name = name.lowercased()
        return name != "h2c" && upgrade.contains(name)
    }

    /// The members of `Upgrade` that may pass; nil if there are none.
    package func passableProtocols(in fields: HTTPFields) -> String? {
        // A head has room for tens of thousands, and nobody offers more than two.
        let passed = fields.listMembers(of: .upgrade, atMost: 16).filter { passes(protocol: $0) }
        return passed.isEmpty ? nil : passed.joined(separator: ", ")
    }
}
