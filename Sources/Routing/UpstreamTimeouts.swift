// SPDX-License-Identifier: Apache-2.0

/// The time-outs of an upstream; zero turns one off.
package struct UpstreamTimeouts: Hashable, Sendable {
    /// Name lookup, connection and TLS handshake together; also the longest wait for a free connection.
    package var connect = Duration.seconds(5)
    /// From the last byte of the request to the first of the response.
    package var firstByte = Duration.seconds(60)
    /// The longest silence inside a body.
    package var streamIdle = Duration.seconds(300)
    /// The time that an unused connection is kept.
    package var idle = Duration.seconds(30)
    /// The largest age of a connection that still gets a request.
    package var age = Duration.seconds(600)

    package init() {}
}
