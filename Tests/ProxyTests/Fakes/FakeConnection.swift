// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages

/// A request as one of the streams of an upstream's connection, which outlives it.
final class FakeUpstreamStream: FakeUpstream {
    override var isJudgedByTrailers: Bool { true }
}

/// A pool of another kind: all its exchanges share one connection, and what the upstream takes on that.
final class FakeConnection: NegotiatingPool {
    let window = FakeWindow(room: .max / 2)
    /// What the streams answer, one after another.
    var answers: [FakeAnswer] = []
    /// Every stream, in the order in which they began.
    private(set) var streams: [FakeUpstreamStream] = []
    private(set) var endedCount = 0
    private(set) var discardedCount = 0

    func take(for form: RequestForm, mayRepeat: Bool) -> FakeUpstreamStream? {
        let stream = FakeUpstreamStream()
        stream.outgoing.window = window
        stream.begin(isFirst: streams.isEmpty)
        if !answers.isEmpty { stream.answers = [answers.removeFirst()] }
        streams.append(stream)
        return stream
    }

    func takePermit() -> Bool? { true }

    func open(
        for form: RequestForm, within timeout: Duration, with permit: Bool?
    ) async throws(UpstreamError) -> FakeUpstreamStream {
        guard let stream = take(for: form, mayRepeat: false) else { throw .busy }
        return stream
    }

    func end(_ exchange: FakeUpstreamStream, isRequestWhole: Bool) { endedCount += 1 }

    func discard(_ exchange: FakeUpstreamStream) { discardedCount += 1 }

    func heedEnd(of exchange: FakeUpstreamStream, at instant: CoarseInstant) {}

    var connections: UpstreamConnections { UpstreamConnections(connecting: 0, active: 1, idle: 0) }
    var isCrowded: Bool { false }

    func closeIdleEverywhere() {}

    /// Whether the upstream chooses to be spoken to by this pool, where it may choose.
    var isChosen = true
    let isKnown = true

    func isChosen(within timeout: Duration) async throws(UpstreamError) -> Bool { isChosen }

    let isRefused = false
    let losesRequests = false

    func close() {}

    var onShortage: () -> Void = {}
}
