// SPDX-License-Identifier: Apache-2.0

public import OAuth

/// Sessions that need neither a start nor a stop.
extension AuthRuntime {
    /// A session for a client that was started, and stops with its last reference.
    ///
    /// A token request in flight ends first, and is stored. `stop()` waits for that; a program that is about to exit calls it.
    ///
    /// - Parameters:
    ///   - client: the client, its authorization server and its requests.
    ///   - settings: the way to the server.
    ///   - observer: hears the session's events.
    ///   - credentials: the client's secret, key and so on, read at each use; nil for a credential that there is not.
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself, and files that cannot be read.
    public func open(
        _ client: ClientConfiguration, connecting settings: ConnectionSettings = ConnectionSettings(),
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) async throws(AuthRuntimeError) -> AuthSession {
        let session = try session(
            for: client, connecting: settings, observer: observer, credentials: credentials)
        await session.start()
        return session
    }

    /// A session for a client that was started, with the program's own transport to its server.
    ///
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself.
    public func open(
        _ client: ClientConfiguration, over transport: any TokenTransport,
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) async throws(AuthRuntimeError) -> AuthSession {
        let session = try session(
            for: client, over: transport, observer: observer, credentials: credentials)
        await session.start()
        return session
    }
}
