// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages
package import BearerdSystem

/// A request to a small service; it has its whole body once that has been received.
package struct ServiceRequest: Sendable {
    package var head: HTTPRequest
    package var body: [UInt8]
    package var peer: PeerAddress
    /// Asks the kernel which user owns the peer's end of a TCP connection.
    private let lookUpPeer: (@Sendable () async -> PeerUser)?
    /// Returns once the client has ended its side of the connection, or the task is cancelled; nil without a connection.
    package let departure: (@Sendable () async -> Void)?

    package init(
        head: HTTPRequest, body: [UInt8] = [], peer: PeerAddress = .unknown,
        lookUpPeer: (@Sendable () async -> PeerUser)? = nil, departure: (@Sendable () async -> Void)? = nil
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.lookUpPeer = lookUpPeer
        self.departure = departure
    }

    /// The user of this machine who sent the request, according to the kernel.
    ///
    /// For TCP the lookup runs on another thread and takes a while, so ask only after everything else has
    /// been judged.
    package func peerUser() async -> PeerUser {
        switch peer {
        case .unix(let user, _): PeerUser(seen: user)
        case .ip: await lookUpPeer?() ?? .nobody
        case .unknown: .nobody
        }
    }

    /// The target up to its query, as sent.
    package var path: String {
        let target = head.target
        return String(target.prefix { $0 != "?" })
    }

    /// The target after its first question mark; nil without one.
    package var query: String? {
        let target = head.target
        guard let mark = target.firstIndex(of: "?") else { return nil }
        return String(target[target.index(after: mark)...])
    }
}
