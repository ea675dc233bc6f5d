// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP1
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// An HTTP/1.1 connection carries one exchange at a time and therefore is that exchange.
extension UpstreamConnection: UpstreamExchange, ConnectionExchange {
    private static let upgradeLine = Array("Connection: Upgrade\r\n".utf8)
    private static let trailersLines = Array("TE: trailers\r\nConnection: TE\r\n".utf8)

    /// Once they are there: most responses have none.
    package var isJudgedByTrailers: Bool { incoming.hasTrailers }

    package var isFirst: Bool { requestsServed == 0 }

    package var isLeftUnprocessed: Bool { false }

    /// True if the exchange is complete and the connection can carry another request.
    var isComplete: Bool { persists && incoming.isFinished && stream.input.isEmpty && stream.isOpen }

    // MARK: The request

    package func begin(_ head: inout HTTPRequest, as form: RequestForm) {
        persists = false
        outgoing.begin()
        hasReadInterim = false
        outgoing.append(&head, isChunked: form.length == .open)
        if form.takesTrailers { outgoing.append(lineOfHead: Self.trailersLines) }
        if let upgrade = form.upgrade {
            outgoing.append(lineOfHead: Self.upgradeLine)
            outgoing.append(lineOfHead: Array("Upgrade: \(upgrade)\r\n".utf8))
        }
        parser.reset()
    }

    // MARK: The answer

    package var hasArrived: Bool { !stream.input.isEmpty }

    package var loss: ResponseLoss { hasArrived ? .head : .connection }

    package func receiveHead() throws(MessageError) -> Bool {
        guard !stream.input.isEmpty else { return false }
        let consumed: Int?
        do {
            consumed = try stream.input.lendReadable { (bytes) throws(HTTPParseError) in
                try parser.parse(bytes, into: &response)
            }
        } catch {
            throw error.isOfStatusLine ? .malformed(.malformed) : MessageError(error)
        }
        guard let consumed else { return false }
        stream.input.consume(consumed)
        if response.isInterim { hasReadInterim = true }
        return true
    }

    package var arrivals: ByteStream { stream }

    package func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength {
        let framing: BodyFraming
        do {
            framing = try parser.bodyFraming(of: response.status, answering: method)
        } catch {
            throw MessageError(error)
        }
        if isFirst, response.fields.has(.keepAlive) { announcedKeepAlive = response.announcedKeepAlive }
        persists = parser.isPersistent && framing != .untilClose
        incoming.begin(framing, trailerLimit: trailerLimit)
        // Trailers right behind the head are all of a call's answer.
        if framing == .chunked, response.fields.areOfGRPC { incoming.takeEmptyContent() }
        return BodyLength(framing)
    }

    // MARK: The connection

    package func beginTunnel() {
        persists = false
        incoming.begin(.untilClose)
        outgoing.begin()
    }
}
