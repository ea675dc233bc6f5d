// SPDX-License-Identifier: Apache-2.0

/// The name of a log field; every name is spelled here only.
package struct LogKey: Hashable, Sendable {
    /// The name as it is written.
    package let name: String

    private init(_ name: String) { self.name = name }

    // MARK: Every line

    package static let time = LogKey("time")
    package static let level = LogKey("level")
    package static let message = LogKey("message")

    // MARK: Requests

    package static let method = LogKey("method")
    package static let route = LogKey("route")
    package static let path = LogKey("path")
    package static let status = LogKey("status")
    /// The `code` of an error response of bearerd's own.
    package static let code = LogKey("code")
    package static let bytesIn = LogKey("bytes_in")
    package static let bytesOut = LogKey("bytes_out")
    /// In seconds, with six decimals.
    package static let duration = LogKey("duration_seconds")
    package static let replayed = LogKey("replayed")
    package static let peer = LogKey("peer")
    package static let upstream = LogKey("upstream")
    /// The number of similar lines left out since the last one.
    package static let leftOut = LogKey("left_out")

    // MARK: Identities

    package static let identity = LogKey("identity")
    package static let state = LogKey("state")
    package static let previousState = LogKey("previous_state")
    package static let generation = LogKey("generation")
    package static let grantType = LogKey("grant_type")
    package static let outcome = LogKey("outcome")
    package static let issuer = LogKey("issuer")
    package static let endpoint = LogKey("endpoint")
    /// The configured scope.
    package static let scope = LogKey("scope")
    /// The scope that a login requested.
    package static let loginScope = LogKey("login_scope")
    /// `aud` of a token.
    package static let audience = LogKey("audience")
    package static let expiresIn = LogKey("expires_in_seconds")
    package static let expires = LogKey("expires_at")

    // MARK: The process

    package static let version = LogKey("version")
    package static let listener = LogKey("listener")
    package static let address = LogKey("address")
    /// The number of files and directories that the sandbox allows.
    package static let places = LogKey("places")
    /// The TCP ports that the sandbox allows to bind.
    package static let bind = LogKey("bind")
    /// The TCP ports that the sandbox allows to connect to.
    package static let connect = LogKey("connect")
    package static let workers = LogKey("workers")
    /// The name of a worker's thread.
    package static let worker = LogKey("worker")
    package static let signal = LogKey("signal")
    package static let connections = LogKey("connections")
    /// Seconds until the wait is given up.
    package static let remaining = LogKey("remaining_seconds")
    package static let file = LogKey("file")
    package static let key = LogKey("key")
    package static let reason = LogKey("reason")
    package static let error = LogKey("error")
    /// A peer's own words beside ``error``.
    package static let errorDescription = LogKey("error_description")
    package static let hint = LogKey("hint")
    package static let count = LogKey("count")
    package static let dropped = LogKey("dropped")
}
