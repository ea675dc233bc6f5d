// SPDX-License-Identifier: Apache-2.0

public import OAuth

/// The resource server's half.
extension AuthRuntime {
    /// A verifier of access tokens, for a program that is a resource server.
    ///
    /// - Parameters:
    ///   - rules: the issuer, and what its tokens have to say.
    ///   - settings: the way to the issuer, which is asked for metadata and keys.
    /// - Returns: a verifier, which keeps the runtime alive.
    /// - Throws: `AuthRuntimeError` for files that cannot be read.
    public func verifier(
        for rules: AccessTokenRules, connecting settings: ConnectionSettings = ConnectionSettings()
    ) throws(AuthRuntimeError) -> AccessTokenVerifier {
        AccessTokenVerifier(
            rules, executor: loop, clock: LoopClock(loop: loop), transport: try transport(settings))
    }

    /// An introspector, for a resource server whose tokens only their issuer can read (RFC 7662).
    ///
    /// - Parameters:
    ///   - client: the resource server's own registration.
    ///   - settings: the way to the authorization server.
    ///   - credentials: the client's secret, key and so on, read at each use.
    /// - Returns: an introspector, which keeps the runtime alive.
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself, and files that cannot be read.
    public func introspector(
        as client: ClientConfiguration, connecting settings: ConnectionSettings = ConnectionSettings(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) throws(AuthRuntimeError) -> TokenIntrospector {
        if let problem = client.problems.first { throw AuthRuntimeError(reason: problem) }
        return TokenIntrospector(
            client, executor: loop, clock: LoopClock(loop: loop), transport: try transport(settings),
            credentials: ClosureCredentials(runtime: self, read: credentials))
    }
}
