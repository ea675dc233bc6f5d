// SPDX-License-Identifier: Apache-2.0

/// The scope, audience and resource of an access token; nil stands for the identity's.
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
    /// This client with the scope, audience and resource of `target`.
    ///
    /// A target that changes nothing gives the client as it is.
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

    /// The client's own scope, audience and resource.
    package var target: TokenTarget { TokenTarget(scope: scope, audience: audience, resource: resource) }
}
