// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages

/// An upstream's answer to one request.
struct FakeAnswer {
    var status = 200
    var fields: [HTTPFields.Name: String] = [:]
    var length = BodyLength.none
    var pieces: [String] = []
    /// Behind the content.
    var trailers: [HTTPFields.Name: String] = [:]
    var isWhole = true
    /// The upstream ends its connection instead of answering.
    var isEnd = false
    /// The upstream says instead that it did nothing with the request.
    var isLeftUnprocessed = false
    /// Statuses that come before.
    var interim: [Int] = []
}

/// A request to an upstream of which a test says what it answers.
class FakeUpstream: UpstreamExchange, ArrivalSource, FakeExchange {
    var isJudgedByTrailers: Bool { false }

    let incoming = FakeSource()
    let outgoing = FakeSink()
    var response = HTTPResponse()
    private(set) var heads: [HTTPRequest] = []
    private(set) var forms: [RequestForm] = []
    private(set) var isAborted = false
    var isTunnel = false
    private(set) var hasEndedSending = false
    var isFirst = true
    var isOpen = true
    private(set) var isLeftUnprocessed = false
    var persists = true
    /// The answers to the next requests, in order.
    var answers: [FakeAnswer] = []
    private var interim: [Int] = []
    private var waiter: CheckedContinuation<Void, Never>?

    /// Begins on another connection.
    func begin(isFirst: Bool) {
        isOpen = true
        incoming.isClosed = false
        outgoing.failure = nil
        isLeftUnprocessed = false
        self.isFirst = isFirst
    }

    func begin(_ head: inout HTTPRequest, as form: RequestForm) {
        heads.append(head)
        forms.append(form)
        outgoing.begin(framesEnd: form.length == .open)
        interim = answers.first?.interim ?? []
    }

    var hasArrived: Bool { false }

    /// Answers what nobody had an answer for.
    func answer(_ answer: FakeAnswer) {
        answers.append(answer)
        waiter?.resume()
        waiter = nil
    }

    func receiveHead() throws(MessageError) -> Bool {
        guard let answer = answers.first, !answer.isEnd, !answer.isLeftUnprocessed else { return false }
        if !interim.isEmpty {
            response = HTTPResponse(status: interim.removeFirst())
            return true
        }
        response = HTTPResponse(status: answer.status)
        for (name, value) in answer.fields { response.fields[name] = value }
        return true
    }

    var arrivals: FakeUpstream { self }

    func more(within timeout: Duration) async throws(StreamError) -> Bool {
        if answers.isEmpty { await withCheckedContinuation { waiter = $0 } }
        guard isOpen else { throw .closed }
        guard let answer = answers.first, answer.isEnd || answer.isLeftUnprocessed else { return true }
        isLeftUnprocessed = answer.isLeftUnprocessed
        answers.removeFirst()
        return false
    }

    func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength {
        let answer = answers.removeFirst()
        incoming.begin(answer.pieces, isWhole: answer.isWhole)
        for (name, value) in answer.trailers { incoming.trailers[name] = value }
        return answer.length
    }

    func close() {
        isOpen = false
        incoming.isClosed = true
        incoming.stop()
        outgoing.failure = .closed
        outgoing.takeMore()
        waiter?.resume()
        waiter = nil
    }

    func abort() {
        isAborted = true
        close()
    }

    func endSending(within timeout: Duration) async -> Bool {
        hasEndedSending = true
        return true
    }

    func finish(within timeout: Duration) async { close() }
}

/// A pool that has one exchange, and counts what becomes of it.
final class FakePool: ExchangePool {
    let exchange = FakeUpstream()
    /// How many connections are kept.
    var kept = 0
    /// The failure of the next connection attempt.
    var failure: UpstreamError?
    private(set) var ended: [Bool] = []
    private(set) var discardedCount = 0
    private var activeCount = 0
    private(set) var repeatable: [Bool] = []
    /// The forms of the requests for which connections were taken.
    private(set) var forms: [RequestForm] = []
    /// The number of kept connections that had ended before their request came.
    private(set) var heededCount = 0

    func take(for form: RequestForm, mayRepeat: Bool) -> FakeUpstream? {
        repeatable.append(mayRepeat)
        forms.append(form)
        guard kept > 0 else { return nil }
        kept -= 1
        activeCount += 1
        exchange.begin(isFirst: false)
        return exchange
    }

    func takePermit() -> Bool? { true }

    func open(
        for form: RequestForm, within timeout: Duration, with permit: Bool?
    ) async throws(UpstreamError) -> FakeUpstream {
        forms.append(form)
        if let failure { throw failure }
        activeCount += 1
        exchange.begin(isFirst: true)
        return exchange
    }

    func end(_ exchange: FakeUpstream, isRequestWhole: Bool) {
        activeCount -= 1
        ended.append(isRequestWhole)
    }

    func discard(_ exchange: FakeUpstream) {
        activeCount -= 1
        discardedCount += 1
    }

    func heedEnd(of exchange: FakeUpstream, at instant: CoarseInstant) { heededCount += 1 }

    var connections: UpstreamConnections {
        UpstreamConnections(connecting: 0, active: activeCount, idle: kept)
    }
    var isCrowded: Bool { false }

    func closeIdleEverywhere() { kept = 0 }

    /// True once no configuration needs it.
    private(set) var isClosed = false

    func close() {
        isClosed = true
        kept = 0
    }

    var onShortage: () -> Void = {}
}
