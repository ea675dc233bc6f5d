// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// Sidecars with an imported session.
extension Sidecar {
    /// Starts a daemon and imports a session for it.
    ///
    /// - Parameters:
    ///   - expiresIn: the lifetime of its access tokens.
    ///   - top: lines of the configuration.
    ///   - isBegun: true to return after the import.
    static func importing(
        directory: TemporaryDirectory? = nil, upstream: RawUpstream? = nil, expiresIn: String = "300",
        top: String = "", isBegun: Bool = true
    ) throws -> Sidecar {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = expiresIn }
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory,
            .init(top: top, grant: "refresh_token"))
        if isBegun {
            try sidecar.importSession()
            try eventually("a token") { try sidecar.get().status == 200 }
        }
        return sidecar
    }

    /// Starts another daemon with the same provider, upstream and store.
    func another(_ settings: Settings = Settings()) throws -> Sidecar {
        try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: clientSecret, settings
        )
    }

    /// A sidecar whose daemon got a token and has ended; its store still holds the session.
    static func ended(
        provider: HostileProvider, upstream: RawUpstream? = nil, in directory: TemporaryDirectory? = nil
    ) throws -> Sidecar {
        let sidecar = try Sidecar(provider: provider, upstream: upstream, directory: directory)
        try sidecar.awaitToken()
        guard case .exited(0) = try sidecar.bearerd.terminate() else { throw WireError("it did not drain") }
        return sidecar
    }

    /// Starts another daemon on the same store, and waits for its token.
    func peer() throws -> Sidecar {
        let peer = try another(.init(grant: "refresh_token"))
        try eventually("a token for both") { try peer.get().status == 200 }
        return peer
    }

    /// Imports a session with a new refresh token of the provider.
    func importSession() throws {
        let file = try directory.write("token", provider.makeRefreshToken() + "\n")
        let result = try BearerdProcess.command(
            "import", "--refresh-token", file, "-c", directory.path("config.yaml"))
        guard result.exit == 0 else { throw WireError(result.errors) }
    }

    /// The stored session; the store is not encrypted.
    var storedSession: String {
        String(
            decoding: TemporaryDirectory.contents(of: storeDirectory + "/default.session"), as: UTF8.self)
    }

    /// The code of the identity's `last_error`.
    func lastError() throws -> String? { try identityStatus()["last_error"]["code"].string }

    /// The detail of the identity's `last_error`.
    func lastErrorDetail() throws -> String { try identityStatus()["last_error"]["detail"].string ?? "" }
}
