// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages

/// A client of which a test says what it sends, and whether it is still there.
class FakeClient: ClientExchange, FakeExchange {
    /// How a connection ended, if it did.
    enum End { case closed, aborted, cut, finished }

    let incoming = FakeSource()
    let outgoing = FakeSink()
    var peer = PeerAddress.ip("127.0.0.1")
    var isEncrypted = false
    func isAdmitted(by security: any ConnectionSecurity) -> Bool {
        judgements += 1
        return true
    }
    /// How often the connection was judged.
    private(set) var judgements = 0
    var isCertificateCurrent: Bool { true }
    var peerNames: PeerNames { .none }
    var request = HTTPRequest()
    var length = BodyLength.none
    private(set) var persists = true
    private(set) var answers: [HTTPResponse] = []
    private(set) var interim: [Int] = []
    private(set) var answerLength = BodyLength.none
    private(set) var end: End?
    var isTunnel = false

    /// Begins a request whose content is `pieces`.
    func ask(
        _ method: HTTPMethod, _ target: String, fields: [HTTPFields.Name: String] = [:],
        length: BodyLength = .none, pieces: [String] = [], isWhole: Bool = true
    ) {
        request = HTTPRequest(method: method, target: target)
        request.fields[.host] = "front.example"
        for (name, value) in fields { request.fields[name] = value }
        self.length = length
        incoming.begin(pieces, isWhole: isWhole)
    }

    func beginBody(limit: UInt64) throws(MessageError) -> BodyLength { length }

    func leaveRequestUnread() { persists = false }

    func endConnectionAfterAnswer() { persists = false }

    func send(interim head: inout HTTPResponse, within timeout: Duration) async throws(StreamError) {
        interim.append(head.status)
    }

    func begin(_ head: inout HTTPResponse, length: BodyLength) {
        answers.append(head)
        answerLength = length
        outgoing.begin(framesEnd: length == .open)
    }

    func endFollows() {}

    func cut() { close(as: .cut) }

    var isOpen: Bool { end == nil }

    func close() { close(as: .closed) }

    func abort() { close(as: .aborted) }

    private func close(as end: End) {
        guard self.end == nil else { return }
        self.end = end
        incoming.isClosed = true
        incoming.stop()
        outgoing.failure = .closed
        outgoing.takeMore()
    }

    func endSending(within timeout: Duration) async -> Bool { false }

    func finish(within timeout: Duration) async { close(as: .finished) }

    let progress = ExchangeProgress(received: 0, sent: 0, untaken: 0)

    func lookAtPeer() -> PeerState { isOpen ? .present : .hasReset }

    func watchPeer(_ onNews: (() -> Void)?) {}
}
