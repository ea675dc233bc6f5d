// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The limits for the peer of an HTTP/2 connection; SETTINGS announces those that it can.
package struct HTTP2Limits: Equatable, Sendable {
    /// Streams at once that the peer may have begun (`limits.streams`); a client's side takes none.
    package var streams: Int
    /// The limits of the peer's heads and trailer sections, as decoded: 32 bytes a field beside its text (RFC 9113 §6.5.2).
    package var head: HeadLimits

    package init(streams: Int = 100, head: HeadLimits = HeadLimits()) {
        self.streams = streams
        self.head = head
    }

    /// How much content of a stream may arrive before somebody consumes it, in bytes.
    package static let streamWindow = 64 * 1024 - 1
    /// How much content may be on its way to a connection, in bytes; what has arrived counts as taken, because each stream
    /// is held to its own window.
    package static let connectionWindow = 1024 * 1024
    /// A header list beyond this is an attack and no large head: the connection ends.
    ///
    /// That of an upstream is read and dropped for longer, because others share the connection.
    func bombBytes(of peer: HTTP2Session.Role) -> Int {
        switch peer {
        case .client: max(4 * head.headerBytes, 256 * 1024)
        case .server: max(16 * head.headerBytes, 1024 * 1024)
        }
    }
    /// CONTINUATION frames behind one HEADERS frame, each of 16 KiB at most.
    func continuations(of peer: HTTP2Session.Role) -> Int {
        switch peer {
        case .client: 8 + head.headerBytes / (16 * 1024)
        case .server: 8 + bombBytes(of: .server) / (16 * 1024)
        }
    }
}
