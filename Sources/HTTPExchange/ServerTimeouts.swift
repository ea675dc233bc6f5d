// SPDX-License-Identifier: Apache-2.0

/// Time limits for clients; zero turns one off.
package struct ServerTimeouts: Sendable {
    /// From the first byte of a request's head to its last.
    package var header: Duration
    /// From the end of a response to the first byte of the next request.
    package var idle: Duration
    /// Without a byte of content, in either direction.
    package var streamIdle: Duration
    /// Without a byte taken by a client that has ended its direction; then it counts as gone.
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
