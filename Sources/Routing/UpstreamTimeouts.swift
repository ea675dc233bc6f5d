// SPDX-License-Identifier: Apache-2.0

/// How long an upstream may take; zero turns a limit off.
package struct UpstreamTimeouts: Hashable, Sendable {
    /// Name lookup, connection and TLS handshake together; also how long a request waits for a free connection.
    package var connect = Duration.seconds(5)
    /// From the last byte of the request to the first of the response.
    package var firstByte = Duration.seconds(60)
    /// Silence inside a body.
    package var streamIdle = Duration.seconds(300)
    /// How long an unused connection is kept.
    package var idle = Duration.seconds(30)
    /// How old a connection may be when a request is put on it.
    package var age = Duration.seconds(600)

    package init() {}
}
