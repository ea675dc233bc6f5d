// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPTypes

/// A request to one of the small services, with its whole body.
package struct ServiceRequest: Sendable {
    package var head: HTTPRequest
    package var body: [UInt8]
    package var peer: PeerAddress

    package init(head: HTTPRequest, body: [UInt8] = [], peer: PeerAddress = .unknown) {
        self.head = head
        self.body = body
        self.peer = peer
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
