// SPDX-License-Identifier: Apache-2.0

/// How long a server waits for its clients; zero turns one off.
package struct ServerTimeouts: Sendable {
    /// From the first byte of a request head to its last.
    package var header: Duration
    /// From the end of an answer to the first byte of the next request.
    package var idle: Duration
    /// Silence inside a body, in either direction.
    package var streamIdle: Duration
    /// How long nothing may pass to a client that has ended its direction before it counts as gone.
    package var halfClosed: Duration

    package init(
        header: Duration = .seconds(10), idle: Duration = .seconds(75), streamIdle: Duration = .seconds(300),
        halfClosed: Duration = .seconds(2)
    ) {
        self.header = header
        self.idle = idle
        self.streamIdle = streamIdle
        self.halfClosed = halfClosed
    }
}
