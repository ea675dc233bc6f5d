// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2

/// An HTTP/2 connection of either side: moves bytes between a ``ByteStream`` and an ``HTTP2Session``, and tells streams
/// when they have changed.
///
/// One task receives, one sends. What streams want to send in one round of the loop goes out together. Confined to its
/// loop's thread.
package final class HTTP2Connection {
    package let stream: ByteStream
    package let session: HTTP2Session
    package let loop: EventLoop
    /// Called with each stream that the peer begins and whose head is there.
    package var onStream: (HTTP2Stream) -> Void {
        get { streamListener }
        set { streamListener = newValue }
    }
    /// Called when something has come, gone out or ended, after the streams were told.
    package var onChange: () -> Void {
        get { listener }
        set { listener = newValue }
    }
    /// True until we close the connection or the peer resets it.
    package var isOpen: Bool { !isClosed }
    /// True once the peer has ended its direction.
    package var peerHasEnded: Bool { hasEnd }
    /// True once the peer's work for TLS, beside which it sends nothing, has ended the connection.
    package private(set) var isFlooded = false
    /// How long the peer may take nothing of what is sent; zero for ever.
    package var patience: Duration

    /// How much is framed ahead of the socket, in bytes.
    private static let sendSize = 64 * 1024

    /// True while the peer does not take the sent bytes.
    var isCongested: Bool { isFull }

    // Private, because the compiler proves of these what it has to check at run time for what others see.
    private var streamListener: (HTTP2Stream) -> Void = { _ in }
    private var listener: () -> Void = {}
    private var isClosed = false
    private var hasEnd = false
    private var isFull = false
    private let sender: LoopWait
    private var sendIsDue = false
    private var isDispatching = false
    /// Requests that declare no content and have not ended, with the time since which that is so; the oldest comes first.
    private var unended: [(stream: HTTP2Stream, since: CoarseInstant)] = []
    private let emptied: LoopWait

    package init(
        _ stream: ByteStream, _ session: HTTP2Session, on loop: EventLoop, patience: Duration
    ) {
        self.stream = stream
        self.session = session
        self.loop = loop
        self.patience = patience
        emptied = LoopWait(loop: loop)
        sender = LoopWait(loop: loop)
    }

    // MARK: Receiving

    /// Receives until the connection is over; what waits in the stream's input comes first.
    ///
    /// - Parameter lingerLimit: how long the peer may go on sending once it was told everything; nil for not at all.
    package func run(lingering lingerLimit: Duration? = nil) async {
        let sending = loop.startTask { await self.send() }
        scheduleSend()
        let endsWell = await receive()
        // A client's streams wait for answers that cannot come any more.
        if peerHasEnded, session.role == .server { await awaitStreams() }
        if endsWell, let lingerLimit, isOpen { await linger(within: lingerLimit) }
        close()
        await sending.value
    }

    /// - Returns: whether both sides are done, and the peer may still send.
    private func receive() async -> Bool {
        if !stream.input.isEmpty { take() }
        while isOpen, !session.isOver {
            if stream.turnIsOver { await stream.yield() }
            do throws(StreamError) {
                let isInside = session.streamCount > 0
                guard try await stream.fill(within: .zero, capacity: StoragePool.large, isInside: isInside)
                else {
                    hasEnd = true
                    return false
                }
            } catch {
                isFlooded = error == .flooded
                // Interrupted by ourselves where everything is said.
                return isOpen && session.isOver
            }
            take()
        }
        await awaitSent()
        return isOpen
    }

    private func take() {
        let count = stream.input.withReadable { bytes in
            session.receive(bytes, at: .now)
            return bytes.count
        }
        if stream.isOpen { stream.input.consume(count) }
        dispatch()
        scheduleSend()
    }

    /// Tells streams that have changed, and hands out those that are new.
    package func dispatch() {
        guard !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        while session.hasChanged {
            var changed = session.takeChanged()
            for stream in changed {
                if session.role == .server, !stream.isTaken {
                    begin(stream)
                } else {
                    stream.onChange?()
                }
            }
            session.giveBack(&changed)
        }
        if session.streamCount == 0 { emptied.wake() }
        listener()
    }

    private func begin(_ new: HTTP2Stream) {
        // A stream that is closed or reset already is ignored, but one that was refused for its head still has to be logged.
        let isRefused = new.isMalformed || new.hasExpired
        guard !new.isClosed && new.resetCode == nil || isRefused else { return }
        guard new.hasHead || isRefused else {
            if !unended.contains(where: { $0.stream === new }) { unended.append((new, .now)) }
            return
        }
        new.isTaken = true
        stream.spend(TurnBudget.requestCost)
        streamListener(new)
    }

    /// The time since which a request has not ended that declares no content; nil if there is none.
    package var unendedSince: CoarseInstant? {
        guard !unended.isEmpty else { return nil }
        unended.removeAll { $0.stream.hasHead || $0.stream.isClosed || $0.stream.resetCode != nil }
        return unended.first?.since
    }

    /// Has the requests answered that declare no content and have not ended for as long as `limit`.
    package func expireUnended(after limit: Duration) {
        let now = CoarseInstant.now
        for (stream, since) in unended where since + limit <= now { session.expire(stream) }
        dispatch()
    }

    /// The peer sends nothing more: streams that need nothing of it may finish.
    private func awaitStreams() async {
        session.endInput()
        session.touchAll()
        dispatch()
        // A session that nghttp2 ends for a breach keeps its streams, and sends nothing on them any more.
        while isOpen, !session.isOver, session.streamCount > 0 {
            let seen = emptied.news
            guard session.streamCount > 0 else { break }
            do { try await emptied.wait(after: seen, until: nil) } catch { return }
        }
        await awaitSent()
    }

    // MARK: Sending

    /// Schedules a send for after the tasks that are ready now, so that their frames go out together.
    package func scheduleSend() {
        guard !sendIsDue else { return }
        sendIsDue = true
        sender.wake()
    }

    /// Frames what streams want to send, as much as goes out at once; it goes with the next send.
    package func frame() {
        guard isOpen else { return }
        session.produce(upTo: Self.sendSize)
        dispatch()
        scheduleSend()
    }

    private func send() async {
        while isOpen {
            do {
                let seen = sender.news
                if !sendIsDue { try await sender.wait(after: seen, until: nil) }
                sendIsDue = false
                while try await sendSome() {}
            } catch {
                return close()
            }
            emptied.wake()
            // The receiver waits for a peer that has nothing more to say.
            if session.isOver, !session.hasOutput { stream.readiness.interruptReader() }
        }
    }

    /// - Returns: whether there is more.
    private func sendSome() async throws(StreamError) -> Bool {
        guard isOpen else { return false }
        session.produce(upTo: Self.sendSize)
        dispatch()
        guard session.hasOutput else { return false }
        if stream.turnIsOver { await stream.yield() }
        guard isOpen else { return false }
        let stream = stream
        let isSent = try session.withOutput { (output) throws(StreamError) in try stream.flush(&output) }
        if !isSent {
            isFull = true
            defer { isFull = false }
            try await stream.waitForRoom(within: patience)
        }
        return isOpen && (session.hasOutput || session.wantsToSend)
    }

    /// Waits until everything is sent that can be.
    private func awaitSent() async {
        scheduleSend()
        while isOpen, session.hasOutput || sendIsDue || isCongested {
            let seen = emptied.news
            do { try await emptied.wait(after: seen, until: .after(.seconds(5))) } catch { return }
        }
    }

    // MARK: The end

    /// Ends the connection and all streams at once.
    package func close() {
        guard isOpen else { return }
        isClosed = true
        session.abandon()
        dispatch()
        emptied.wake()
        stream.close()
        sender.wake()
    }

    /// Tells the peer that everything is said, and reads and discards what it still sends until it has heard that, for a
    /// moment at most: closing with unread bytes would reset the connection, and the peer lose what was said last.
    package func linger(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        if !session.hasOutput {
            session.pingLast()
            await awaitSent()
        }
        await stream.endSending(within: min(.seconds(1), limit))
        stream.readiness.forgetInterruption()
        while stream.isOpen {
            stream.input.withReadable { session.receive($0, at: .now) }
            stream.input.consume(stream.input.count)
            stream.releaseStorage()
            if session.isHeardOut { break }
            let rest = min(ContinuousClock.now.duration(to: deadline), .seconds(1))
            guard rest > .zero, (try? await stream.fill(within: rest)) == true else { break }
        }
    }
}
