// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPMessages

/// A request to one of the small services, with its whole body once that has been taken.
package struct ServiceRequest: Sendable {
    package var head: HTTPRequest
    package var body: [UInt8]
    package var peer: PeerAddress
    /// The sockets of a TCP connection; they tell whose the peer is.
    private let ends: SocketEnds?

    package init(
        head: HTTPRequest, body: [UInt8] = [], peer: PeerAddress = .unknown, ends: SocketEnds? = nil
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.ends = ends
    }

    /// The user of this machine who sends it, as the kernel knows; nil for one of another machine.
    ///
    /// For TCP it takes a look at all connections of the machine, so ask last.
    package var peerUser: UInt32? {
        switch peer {
        case .unix(let user, _): user
        case .ip: ends?.peerUser()
        case .unknown: nil
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
