// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages
package import BearerdSystem

/// A request to one of the small services, with its whole body once that has been taken.
package struct ServiceRequest: Sendable {
    package var head: HTTPRequest
    package var body: [UInt8]
    package var peer: PeerAddress
    /// Asks the kernel whose the peer's end of a TCP connection is.
    private let lookUpPeer: (@Sendable () async -> PeerUser)?

    package init(
        head: HTTPRequest, body: [UInt8] = [], peer: PeerAddress = .unknown,
        lookUpPeer: (@Sendable () async -> PeerUser)? = nil
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.lookUpPeer = lookUpPeer
    }

    /// The user of this machine who sends it, as the kernel knows.
    ///
    /// Another thread finds that out for TCP, so ask last.
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

    /// The target behind its first question mark, `nil` without one.
    package var query: String? {
        let target = head.target
        guard let mark = target.firstIndex(of: "?") else { return nil }
        return String(target[target.index(after: mark)...])
    }
}
