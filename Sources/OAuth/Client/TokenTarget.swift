// SPDX-License-Identifier: Apache-2.0

/// The scope, audience and resource of an access token; nil stands for the identity's.
package struct TokenTarget: Hashable, Sendable {
    /// Scope tokens (RFC 6749 §3.3).
    package var scope: [String]?
    package var audience: [String]?
    /// Resource indicators (RFC 8707).
    package var resource: [String]?
    /// Repositories of a GitHub App's installation.
    package var repositories: [String]?
    /// Permissions of a GitHub App's installation, with their levels.
    package var permissions: [NamedValue]?

    package init(
        scope: [String]? = nil, audience: [String]? = nil, resource: [String]? = nil,
        repositories: [String]? = nil, permissions: [NamedValue]? = nil
    ) {
        self.scope = scope
        self.audience = audience
        self.resource = resource
        self.repositories = repositories
        self.permissions = permissions
    }
}

extension ClientConfiguration {
    /// This client with the scope, audience and resource of `target`.
    ///
    /// A target that changes nothing gives the client as it is.
    package func aimed(at target: TokenTarget) -> ClientConfiguration {
        var aimed = self
        // Of a source, an audience asks for another kind of token than a scope does: the target's one replaces both.
        let excludes = source != nil && (target.scope != nil || target.audience != nil)
        aimed.scope = target.scope ?? (excludes ? [] : scope)
        aimed.audience = target.audience ?? (excludes ? [] : audience)
        aimed.source = source?.aimed(at: target)
        aimed.resource = target.resource ?? resource
        guard aimed != self else { return self }
        aimed.isForRoute = true
        aimed.narrowsScope = aimed.scope != scope
        return aimed
    }

    /// The client's own scope, audience and resource.
    package var target: TokenTarget {
        var target = TokenTarget(scope: scope, audience: audience, resource: resource)
        if case .gitHubApp(let app)? = source {
            target.repositories = app.repositories
            target.permissions = app.permissions
        }
        return target
    }
}
