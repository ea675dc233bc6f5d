// SPDX-License-Identifier: Apache-2.0

/// What an access token is asked for, where a route wants one of its own; nil stands for the identity's.
package struct TokenTarget: Hashable, Sendable {
    /// Scope tokens (RFC 6749 §3.3).
    package var scope: [String]?
    package var audience: [String]?
    /// Resource indicators (RFC 8707).
    package var resource: [String]?

    package init(scope: [String]? = nil, audience: [String]? = nil, resource: [String]? = nil) {
        self.scope = scope
        self.audience = audience
        self.resource = resource
    }
}

extension ClientConfiguration {
    /// This client, asking for `target`.
    ///
    /// A target that asks for what the client asks for anyway gives the client as it is.
    package func aimed(at target: TokenTarget) -> ClientConfiguration {
        var aimed = self
        aimed.scope = target.scope ?? scope
        aimed.audience = target.audience ?? audience
        aimed.resource = target.resource ?? resource
        guard aimed != self else { return self }
        aimed.isForRoute = true
        aimed.narrowsScope = aimed.scope != scope
        return aimed
    }

    /// What its tokens are asked for, in full.
    package var target: TokenTarget { TokenTarget(scope: scope, audience: audience, resource: resource) }
}
