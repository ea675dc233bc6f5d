// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
package import BearerdObservability

/// Logs that clients' HTTP/2 connections were ended for what they sent: one line a minute at most.
///
/// All workers share it.
package final class ClientFloods: Sendable {
    private let log: Log
    private let throttle = LineThrottle(pause: .seconds(60))

    package init(log: Log) { self.log = log }

    /// Takes note of a connection that was ended.
    ///
    /// - Parameter flood: what the client sent too much of, in words.
    func ended(_ peer: PeerAddress, for flood: String) {
        guard let leftOut = throttle.pass() else { return }
        log.warning(
            "a client's HTTP/2 connection was ended for a flood",
            [.peer: .string(peer.text), .reason: .string(flood), .leftOut: .integer(leftOut)])
    }
}
