// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP2
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// Which of one pool's connections takes a request.
extension [HTTP2Link] {
    /// More connections than this are not made for requests that share one and find no room on the others.
    private static var limit: Int { 20 }

    /// The connection that takes the request now; nil if another one is to be made, or waited for.
    func withRoom(for form: RequestForm) -> HTTP2Link? {
        if form.isHeadLarge { return first { $0.hasRoom && $0.activeCount == 0 } }
        var stalled: HTTP2Link?
        for index in indices {
            // Looked up once.
            let link = self[index]
            guard link.hasRoom else {
                link.heedVainRequest()
                continue
            }
            guard form.needsWindow, link.isShut else { return link }
            link.heedVainRequest()
            // An upstream that does not read one request has perhaps shut the window of all.
            stalled = stalled ?? link
        }
        return mayGrow(for: form) ? nil : stalled
    }

    /// The connection that takes the request where no other could be made in time: a mute upstream is perhaps busy.
    func inPlace(of failure: UpstreamError, for form: RequestForm) -> HTTP2Link? {
        guard !form.isHeadLarge else { return nil }
        switch failure {
        case .connectionTimeout, .greetingTimeout: break
        default: return nil
        }
        return first { $0.hasPlace && $0.isAcknowledged && !$0.refusesHead(of: form.headSize) }
    }

    /// True if one more connection may be made for the request.
    ///
    /// Some servers end a connection for a head that is too large for them, without having said what they take: such a head
    /// shares its connection with nobody. That one, and one whose window is shut, is bounded by the permits of the requests that
    /// it carries, as a connection of HTTP/1.1 is.
    func mayGrow(for form: RequestForm) -> Bool {
        form.isHeadLarge
            || count(where: { $0.isUsable && !$0.isReserved && !(form.needsWindow && $0.isShut) })
                < Self.limit
    }

    /// Ends connections that carry nothing and whose window the upstream has not opened again: nobody would count them.
    func endShut() { for link in self where link.activeCount == 0 && link.isShut { link.shutDown() } }

    /// Ends the connections that show a certificate which has been replaced, once their requests are over.
    func end(madeBefore version: Int) {
        for link in self where link.certificateVersion != version { link.shutDown() }
    }
}

extension RequestForm {
    /// True if what follows the head needs the connection's window (RFC 9113 §5.2).
    fileprivate var needsWindow: Bool {
        if case .none = length { return upgrade != nil }
        return true
    }
}
