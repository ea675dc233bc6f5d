// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP2
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// Which of one pool's connections takes a request.
extension [HTTP2Link] {
    /// More connections than this are not made for requests that find no room on the others.
    private static var limit: Int { 8 }

    /// The connection that takes the request now; nil if another one is to be made, or waited for.
    func withRoom(for form: RequestForm) -> HTTP2Link? {
        if form.isHeadLarge { return mayReserve ? first { $0.hasRoom && $0.activeCount == 0 } : nil }
        var stalled: HTTP2Link?
        for index in indices where self[index].hasRoom {
            guard form.needsWindow, self[index].connection.session.connectionWindow <= 0 else {
                return self[index]
            }
            // An upstream that does not read one request has perhaps shut the window of all.
            stalled = stalled ?? self[index]
        }
        return mayGrow(for: form) ? nil : stalled
    }

    /// True if one more connection may be made for the request.
    func mayGrow(for form: RequestForm) -> Bool {
        count(where: \.isUsable) < Self.limit && (!form.isHeadLarge || mayReserve)
    }

    /// True if enough connections are left for those who share one.
    ///
    /// Some servers end a connection for a head that is too large for them, without having said what they take: such a head
    /// shares its connection with nobody.
    private var mayReserve: Bool { count(where: \.isReserved) < Self.limit / 2 }
}

extension RequestForm {
    /// True if what follows the head needs the connection's window (RFC 9113 §5.2).
    fileprivate var needsWindow: Bool {
        if case .none = length { return upgrade != nil }
        return true
    }
}
