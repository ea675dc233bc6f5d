// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import OAuth

/// On what terms a route's requests go to their upstream: what is changed on the way, and how long it may take.
package struct RouteTerms: Sendable {
    /// What becomes of the client's own field where the token goes.
    package enum AuthorizationPolicy: String, CaseIterable, Sendable {
        /// The client's own field is replaced by the token.
        case overwrite
        /// The client's own field is kept, and no token is put in.
        case preserve
        /// The request is refused.
        case reject
    }

    /// What `Host` says to the upstream.
    package enum HostField: Hashable, Sendable {
        /// The upstream's own authority.
        case upstream
        /// What the client said.
        case preserve
        /// This text.
        case value(String)
    }

    /// What is said of the client in `X-Forwarded-For`, `-Proto` and `-Host`.
    package enum ForwardedPolicy: Sendable {
        /// Nothing of ours; what the client sent stays.
        case none
        /// What we know, in place of what the client claims.
        case replace
        /// Our peer is added to `-For`; the other two stay if they are there.
        case append
    }

    /// What is done without a token.
    package enum TokenlessPolicy: String, CaseIterable, Sendable {
        /// The request fails.
        case fail
        /// The request goes on without a token.
        case pass
    }

    /// Whether the route's path is taken off first.
    package var stripsPrefix = false
    /// What may be asked for; `nil` for everything.
    package var rules: RequestRules?
    /// What becomes of the client's own credentials.
    package var authorization = AuthorizationPolicy.overwrite
    /// How the token is written.
    package var credentials = RequestAuthorization.Field()
    /// What `Host` says.
    package var hostField = HostField.upstream
    /// Changes to requests.
    package var requestEdits = FieldEdits()
    /// Changes to responses.
    package var responseEdits = FieldEdits()
    /// What is said of the client.
    package var forwarded = ForwardedPolicy.none
    /// Whether we add ourselves to `Via`.
    package var via = true
    /// Protocols that a client may upgrade to, in lower case.
    package var upgrade: Set<String> = ["websocket"]
    /// Statuses that force a refresh and one replay.
    package var retryOnStatus: Set<Int> = [401]
    /// The longest request body that is kept for a replay, in bytes.
    package var replayBuffer = 64 << 10
    /// What is done without a token.
    package var onNoToken = TokenlessPolicy.fail
    /// How long the upstream may take.
    package var timeouts = UpstreamTimeouts()

    package init() {}

    /// Those members of `Upgrade` that may pass, nil for none.
    package func passableProtocols(in fields: HTTPFields) -> String? {
        let passed = fields.listMembers(of: .upgrade).filter { member in
            let name = member.lowercased()
            return name != "h2c" && upgrade.contains(name)
        }
        return passed.isEmpty ? nil : passed.joined(separator: ", ")
    }
}
