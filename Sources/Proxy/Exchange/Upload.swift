// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// A request on its way to the upstream: the head, and the content as the client sends it.
///
/// Content that passes is also kept, up to the route's `replay_buffer`, so that the request can be sent again.
final class Upload<Client: ClientExchange, Upstream: UpstreamExchange> {
    private let client: Client
    private let loop: EventLoop
    private var length = BodyLength.none
    private var keepLimit = 0
    private var kept: [UInt8] = []
    private var hasOverflowed = false
    private var timeout = Duration.zero
    /// The failure that ended it, if one did: ``ProxyError/upstreamClosed`` of whatever kept the upstream from taking it,
    /// else the client's.
    private(set) var failure: ProxyError?
    /// Whether the last byte, framing included, was handed to the upstream.
    private(set) var isFinished = false
    /// When that was; the upstream's time to answer begins here.
    private(set) var finishedAt = CoarseInstant.now
    /// Carries out ``sendRest(to:)``, while it is under way.
    var task: Task<Void, Never>?
    private var waiter: CheckedContinuation<Void, Never>?
    /// Says what does not go up behind the content.
    private var route: PreparedRoute?

    init(from client: Client, loop: EventLoop) {
        self.client = client
        self.loop = loop
    }

    /// Prepares for the request at hand, whose content the client has begun.
    ///
    /// - Parameter length: of the content.
    func begin(_ length: BodyLength, on route: PreparedRoute) {
        self.length = length
        keepLimit = route.terms.replayBuffer
        timeout = route.terms.timeouts.streamIdle
        if length == .open { self.route = route }
        if kept.capacity > 4096 { kept = [] } else if !kept.isEmpty { kept.removeAll(keepingCapacity: true) }
        hasOverflowed = false
        failure = nil
        isFinished = false
    }

    /// Gives the memory of what was kept back.
    func letGo() { kept = [] }

    /// Whether the client's content ended it.
    var isCutByClient: Bool { failure.map { $0 != .upstreamClosed } ?? false }

    /// Whether ``sendRest(to:)`` is under way.
    var isRunning: Bool { task != nil }

    /// Whether all of the content that has left the client's buffer is kept.
    var isWholeKept: Bool { !hasOverflowed }

    /// Whether the content is known to be more than can be kept.
    var isTooLong: Bool {
        guard case .exact(let length) = length else { return hasOverflowed }
        return length > UInt64(keepLimit)
    }

    /// Whether all of the content has come from the client.
    var hasArrived: Bool { client.incoming.isFinished }

    /// Sends what was kept before and what has arrived so far, behind the head that `upstream` has been given: as much
    /// as it takes at once.
    ///
    /// Afterwards ``isFinished`` says whether that was all; what is left, or would be more than a turn, is for
    /// ``sendRest(to:)``.
    func sendStart(to upstream: Upstream) throws(ProxyError) {
        failure = nil
        isFinished = false
        if !kept.isEmpty { upstream.outgoing.append(kept) }
        while !client.incoming.isFinished, !loop.turnIsOver {
            do {
                guard try client.incoming.nextPiece() != nil else { break }
            } catch {
                throw fail(ProxyError(receiving: error))
            }
            keepPiece()
            guard
                try atOnce({ () throws(StreamError) in try upstream.outgoing.offer(pieceOf: client.incoming) }
                )
            else { return }
        }
        if hasArrived { end(upstream) }
        if try atOnce({ () throws(StreamError) in try upstream.outgoing.flush() }), hasArrived { finish() }
    }

    @inline(__always)
    private func atOnce(_ send: () throws(StreamError) -> Bool) throws(ProxyError) -> Bool {
        do { return try send() } catch { throw fail(.upstreamClosed) }
    }

    /// Waits until ``sendRest(to:)`` is over.
    func awaitEnd() async { await task?.value }

    /// Sends what is still to come, as it comes.
    func sendRest(to upstream: Upstream) async {
        defer {
            task = nil
            wakeWaiter()
        }
        do throws(ProxyError) {
            while try await takePiece(for: upstream) {
                keepPiece()
                do {
                    try await upstream.outgoing.send(pieceOf: client.incoming, within: timeout)
                } catch {
                    throw fail(.upstreamClosed)
                }
            }
            end(upstream)
            try await flush(to: upstream)
            finish()
        } catch {
            failure = error
        }
    }

    /// Takes the next piece, and sends what is kept for it before waiting.
    ///
    /// - Returns: whether there is one.
    private func takePiece(for upstream: Upstream) async throws(ProxyError) -> Bool {
        // Whoever stops an upload wakes it from a wait; one that has not begun to wait must not begin.
        guard upstream.isOpen else { throw .upstreamClosed }
        do throws(MessageError) {
            if try client.incoming.nextPiece() != nil { return true }
        } catch {
            throw ProxyError(receiving: error)
        }
        try await flush(to: upstream)
        guard upstream.isOpen else { throw .upstreamClosed }
        do {
            return try await client.incoming.nextPiece(within: timeout) != nil
        } catch {
            throw ProxyError(receiving: error)
        }
    }

    private func flush(to upstream: Upstream) async throws(ProxyError) {
        do {
            try await upstream.outgoing.flush(within: timeout)
        } catch {
            throw fail(.upstreamClosed)
        }
    }

    /// Takes the content before it has an upstream, to send it from what is kept: until as much is kept as may be, or one
    /// piece more, which the connection had in its buffer.
    func gather() async throws(ProxyError) {
        while !hasArrived, kept.count < keepLimit {
            do {
                guard try await client.incoming.nextPiece(within: timeout) != nil else { return }
            } catch {
                throw fail(ProxyError(receiving: error))
            }
            client.incoming.withPiece { kept.append($0) }
            client.incoming.consumePiece()
        }
    }

    /// Waits for the rest of the content, to keep it, whether the upstream takes it or not.
    func takeRest(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        await awaitEnd(within: limit)
        while failure == .upstreamClosed, !hasArrived, !hasOverflowed {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero, (try? await client.incoming.nextPiece(within: remaining)) != nil else {
                return
            }
            keepPiece()
            client.incoming.consumePiece()
        }
    }

    /// Waits until ``sendRest(to:)`` is over.
    private func awaitEnd(within limit: Duration) async {
        guard isRunning else { return }
        let timer = LoopTimer(loop: loop) { [unowned self] in wakeWaiter() }
        timer.set(after: limit)
        await withCheckedContinuation { continuation in
            guard isRunning else { return continuation.resume() }
            waiter = continuation
        }
        timer.cancel()
    }

    private func wakeWaiter() {
        waiter?.resume()
        waiter = nil
    }

    private func fail(_ failure: ProxyError) -> ProxyError {
        self.failure = failure
        return failure
    }

    private func finish() {
        isFinished = true
        finishedAt = .now
    }

    private func end(_ upstream: Upstream) { upstream.outgoing.end(trailers: trailers) }

    /// What may go up behind the content.
    private var trailers: HTTPFields {
        guard let route else { return client.incoming.trailers }
        var trailers = client.incoming.trailers.without(route.unwantedRequestTrailers)
        trailers.removeLookalikes(of: route.reservedNames)
        if let names = route.overrideFields { trailers.removeAll(of: names) }
        return trailers
    }

    /// Keeps the piece at hand, if what is kept stays within its limit.
    private func keepPiece() {
        guard !hasOverflowed else { return }
        let isKept = client.incoming.withPiece { piece in
            guard kept.count + piece.count <= keepLimit else { return false }
            kept.append(piece)
            return true
        }
        guard isKept == false else { return }
        hasOverflowed = true
        kept = []
    }
}
