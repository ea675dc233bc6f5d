// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting
internal import BearerdSystem

/// The request's content on its way from the client to the upstream.
///
/// The content is also kept, up to the route's `replay_buffer`, so that the request can be sent again.
final class Upload<Client: ClientExchange> {
    /// The most memory that is kept for the next content.
    private static var reused: Int { 8192 }

    private let client: Client
    private let loop: EventLoop
    private var length = BodyLength.none
    private var keepLimit = 0
    private let keeping = Exclusive<[UInt8]>([])
    private var kept: [UInt8] {
        @inline(__always)
        _read { yield keeping.value }
        @inline(__always)
        _modify { yield &keeping.value }
    }
    private var hasOverflowed = false
    private var timeout = Duration.zero
    /// The failure that ended the upload: ``ProxyError/upstreamClosed`` if the upstream stopped taking it,
    /// else the client's.
    private(set) var failure: ProxyError?
    /// True if the upstream took nothing for as long as it was waited for.
    private(set) var hasStalled = false
    /// True while all that has come is sent, and more is waited for.
    private(set) var isAwaitingClient = false
    /// True once the last byte, framing included, has been handed to the upstream.
    private(set) var isFinished = false
    /// When the upload finished; the upstream's time to respond begins here.
    private(set) var finishedAt = CoarseInstant.now
    /// The task that runs ``sendRest(to:)``.
    var task: Task<Void, Never>?
    private var waiter: CheckedContinuation<Void, Never>?
    /// The route, for the trailers that must not be forwarded.
    private var route: PreparedRoute?

    init(from client: Client, loop: EventLoop) {
        self.client = client
        self.loop = loop
    }

    /// Prepares for a request whose content the client has begun.
    ///
    /// - Parameter length: the length of the content.
    func begin(_ length: BodyLength, on route: PreparedRoute) {
        self.length = length
        keepLimit = route.terms.replayBuffer
        timeout = route.terms.timeouts.streamIdle
        // HTTP/2 has trailers behind a declared length too.
        if length == .open || length != .none && client.request.version == .http2 { self.route = route }
        if kept.capacity > Self.reused {
            kept = []
        } else if !kept.isEmpty {
            kept.removeAll(keepingCapacity: true)
        }
        hasOverflowed = false
        failure = nil
        hasStalled = false
        isFinished = false
    }

    /// Frees the kept content.
    func letGo() { kept = [] }

    /// True if the client's content caused the failure.
    var isCutByClient: Bool { failure.map { $0 != .upstreamClosed } ?? false }

    /// True while ``sendRest(to:)`` runs.
    var isRunning: Bool { task != nil }

    /// True if all content that was taken from the client is kept.
    var isWholeKept: Bool { !hasOverflowed }

    /// True if the content is known to exceed the limit for keeping it.
    var isTooLong: Bool {
        guard case .exact(let length) = length else { return hasOverflowed }
        return length > UInt64(keepLimit)
    }

    /// True if the content may exceed the limit for keeping it, for all that is known.
    var mayOverflow: Bool { isTooLong || length == .open }

    /// True once the client has sent all of the content.
    var hasArrived: Bool { client.incoming.isFinished }

    /// Sends the kept content and what has arrived, after the request's head, as much as `upstream` takes at
    /// once.
    ///
    /// Afterwards ``isFinished`` tells if that was everything. The rest, or more than the loop's fair share,
    /// is left to ``sendRest(to:)``.
    func sendStart(to upstream: some UpstreamExchange) throws(ProxyError) {
        failure = nil
        isFinished = false
        let (incoming, outgoing) = (client.incoming, upstream.outgoing)
        if !kept.isEmpty { outgoing.append(kept) }
        var isWhole = incoming.isFinished
        while !isWhole, !loop.turnIsOver {
            do {
                guard try incoming.nextPiece() != nil else { break }
            } catch {
                throw fail(ProxyError(receiving: error))
            }
            guard
                try atOnce({ () throws(StreamError) in
                    try outgoing.offer(pieceOf: incoming, behind: { keep($0) })
                })
            else { return }
            isWhole = incoming.isFinished
        }
        // The last bytes may have been no piece.
        let hasArrived = isWhole || incoming.isFinished
        if hasArrived { end(upstream) }
        if try atOnce({ () throws(StreamError) in try outgoing.flush() }), hasArrived { finish() }
    }

    @inline(__always)
    private func atOnce(_ send: () throws(StreamError) -> Bool) throws(ProxyError) -> Bool {
        do { return try send() } catch { throw fail(.upstreamClosed) }
    }

    /// Waits until ``sendRest(to:)`` has returned.
    func awaitEnd() async { await task?.value }

    /// Sends the rest of the content as it arrives.
    func sendRest(to upstream: some UpstreamExchange) async {
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
                    throw stopped(by: error)
                }
            }
            end(upstream)
            try await flush(to: upstream)
            finish()
        } catch {
            failure = error
        }
    }

    /// Takes the next piece; sends the kept bytes before it has to wait.
    ///
    /// - Returns: false at the end of the content.
    private func takePiece(for upstream: some UpstreamExchange) async throws(ProxyError) -> Bool {
        // Whoever stops an upload wakes it from a wait; one that has not begun to wait must not begin.
        guard upstream.isOpen else { throw .upstreamClosed }
        do throws(MessageError) {
            if try client.incoming.nextPiece() != nil { return true }
        } catch {
            throw ProxyError(receiving: error)
        }
        // An end that is there goes with the content.
        guard !hasArrived else { return false }
        try await flush(to: upstream)
        guard upstream.isOpen else { throw .upstreamClosed }
        isAwaitingClient = true
        defer { isAwaitingClient = false }
        do {
            return try await client.nextPiece(
                of: client.incoming, within: timeout, sparingly: !upstream.outgoing.takesMuch) != nil
        } catch {
            // Whoever ends an upload closes the upstream first: the client, which is woken from its wait, has done nothing.
            throw upstream.isOpen ? ProxyError(receiving: error) : .upstreamClosed
        }
    }

    private func flush(to upstream: some UpstreamExchange) async throws(ProxyError) {
        do {
            try await upstream.outgoing.flush(within: timeout)
        } catch {
            throw stopped(by: error)
        }
    }

    private func stopped(by error: StreamError) -> ProxyError {
        hasStalled = error == .timedOut
        return fail(.upstreamClosed)
    }

    /// Receives content before there is an upstream, until the limit for keeping it is reached.
    ///
    /// The last piece may exceed the limit, because it was already in the connection's buffer.
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

    /// Waits for the rest of the content and keeps it, even if the upstream takes no more.
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

    /// Waits at most `limit` for ``sendRest(to:)`` to return.
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

    private func end(_ upstream: some UpstreamExchange) { upstream.outgoing.end(trailers: trailers) }

    /// The client's trailers without those that must not be forwarded.
    private var trailers: HTTPFields {
        guard client.incoming.hasTrailers, let route else { return HTTPFields() }
        var trailers = client.incoming.trailers.without(route.unwantedRequestTrailers)
        trailers.removeLookalikes(of: route.reservedNames)
        if let names = route.overrideFields { trailers.removeAll(of: names) }
        return trailers
    }

    /// Keeps the current piece if the limit allows.
    private func keepPiece() {
        if !hasOverflowed { client.incoming.withPiece { keep($0) } }
    }

    private func keep(_ piece: Span<UInt8>) {
        guard !hasOverflowed else { return }
        guard kept.count + piece.count > keepLimit else { return kept.append(piece) }
        hasOverflowed = true
        kept = []
    }
}
