// SPDX-License-Identifier: Apache-2.0

/// One connection as two directions of bytes, with back-pressure and a time-out on every wait.
///
/// Received bytes are in ``input`` until the caller consumes them; nothing is received that nobody asked for.
/// Whoever moves as many bytes as are a ``Turn`` lets others go first, also where none of them had to wait. Confined to
/// its loop's thread; at most one task reads and one writes at a time.
package final class ByteStream {
    /// What has arrived and is not consumed.
    package var input = ByteBuffer()
    package let readiness: Readiness
    /// The bytes received and sent since the connection began.
    package private(set) var bytesReceived: UInt64 = 0
    package private(set) var bytesSent: UInt64 = 0
    /// Whether the peer's end came without its announcement (TLS close_notify): what it sent may be cut short.
    package private(set) var endWasTruncated = false
    /// Whether what passes is encrypted.
    package let isEncrypted: Bool
    /// When the peer's certificate ends, in seconds since 1970; nil without one.
    package var peerCertificateEnd: Int64? { wire.peerCertificateEnd }

    private let wire: any Wire
    private let loop: EventLoop
    private let pool: StoragePool
    /// The loop's, which lives as long as we do.
    @usableFromInline let allowance: UnsafeMutablePointer<Int>
    private var isClosed = false
    /// Whether a send that moved nothing waits for something to receive: TLS may want that first.
    private var roomIsBehindReading = false

    package init(wire: any Wire, readiness: Readiness, loop: EventLoop) {
        self.wire = wire
        isEncrypted = wire.isEncrypted
        self.readiness = readiness
        self.loop = loop
        pool = loop.storagePool
        allowance = loop.allowance
    }

    deinit { close() }

    /// Whether the connection would be taken if it were made now; it is not once it is closed.
    package func isAdmitted(by security: any ConnectionSecurity) -> Bool {
        !isClosed && security.admits(wire)
    }

    /// Ends both directions at once and frees the descriptor; over TLS the peer sees a cut.
    ///
    /// Idempotent; waiters get ``StreamError/closed``.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        readiness.cancel()
        wire.close()
        input.consume(input.count)
        input.releaseIfEmpty(to: pool)
    }

    /// Whether nobody has closed it on our side.
    package var isOpen: Bool { !isClosed }

    /// Ends both directions so that the peer sees a failure and no orderly end.
    package func abort() {
        guard !isClosed else { return }
        wire.resetOnClose()
        close()
    }

    /// Whether the peer can be told that nothing more will be sent while it goes on sending.
    package var canEndSending: Bool { wire.canEndSending }

    /// Tells the peer that nothing more will be sent.
    ///
    /// - Parameter timeout: of each wait for the peer to take that in; zero waits for ever.
    package func endSending(within timeout: Duration) async {
        while !isClosed, case .wouldBlockOnWrite = wire.endSending() {
            readiness.clearWritable()
            do { try await readiness.writable(within: timeout) } catch { return }
        }
    }

    /// Says that what is written next is the last, and that the end follows at once: a client then gets both in one
    /// segment.
    package func endFollows() { wire.endFollows() }

    /// Closes so that the peer knows that it has got everything.
    ///
    /// - Parameter timeout: of each wait for the peer to take that in; zero waits for ever.
    package func finish(within timeout: Duration) async {
        if wire.announcesEnd { await endSending(within: timeout) }
        close()
    }

    /// Agrees on keys with the peer; nothing to do on a plain connection.
    ///
    /// - Parameter limit: of all of it; zero waits for ever.
    package func handshake(within limit: Duration) async throws(StreamError) {
        let deadline: ContinuousClock.Instant? = limit > .zero ? .now + limit : nil
        while !isClosed {
            let result = wire.handshake()
            if case .moved = result { return }
            let remaining = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let remaining, remaining <= .zero { throw .timedOut }
            _ = try await account(for: result, within: remaining ?? .zero)
        }
        throw .closed
    }

    /// Whether the end that TLS announces is next of what has arrived; nothing is received.
    ///
    /// - Parameter hasArrived: whether the kernel has bytes.
    func hasFoundEnd(hasArrived: Bool) -> Bool { wire.hasFoundEnd(hasArrived: hasArrived) }

    /// Sets down what the job that runs has done beside moving bytes.
    ///
    /// - Parameter cost: as ``Turn`` counts it.
    @inline(__always)
    package func spend(_ cost: Int) { allowance.pointee &-= cost }

    /// Takes bytes out of ``input`` with which a piece of work begins.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - cost: of the work, as ``Turn`` counts it.
    @inline(__always)
    package func take(_ count: Int, for cost: Int) {
        input.consume(count)
        spend(cost)
    }

    /// Whether the job that runs has had its turn, and is to ``yield()`` if it would go on.
    @inline(__always)
    package var turnIsOver: Bool { allowance.pointee <= 0 }

    /// Lets others go first; the stream may be closed afterwards.
    package func yield() async { await loop.yield() }

    /// Waits for bytes and puts them into ``input``.
    ///
    /// - Parameters:
    ///   - timeout: of the wait for the first byte; zero waits for ever.
    ///   - capacity: how much one receive may take when the buffer is empty, in bytes.
    ///   - isInside: whether more must come, because a message is not whole.
    /// - Returns: `false` when the peer has ended its direction.
    package func fill(
        within timeout: Duration, capacity: Int = StoragePool.small, isInside: Bool = false
    ) async throws(StreamError) -> Bool {
        try await receiveSome(within: timeout, capacity: capacity, isInside: isInside)
    }

    /// Waits for more of a message that is not whole, and puts it into ``input``.
    ///
    /// - Parameter timeout: of the wait for the first byte; zero waits for ever.
    /// - Returns: `false` when the peer has ended its direction.
    package func more(within timeout: Duration) async throws(StreamError) -> Bool {
        try await receiveSome(within: timeout, capacity: StoragePool.small, isInside: true)
    }

    @inline(__always)
    private func receiveSome(
        within timeout: Duration, capacity: Int, isInside: Bool
    ) async throws(StreamError) -> Bool {
        while true {
            if readiness.isReadable {
                if turnIsOver { await yield() }
                if let hasBytes = try receive(capacity: capacity) { return hasBytes }
            }
            input.releaseIfEmpty(to: pool)
            try await readiness.readable(within: timeout, isInside: isInside)
        }
    }

    /// Puts what has already arrived into ``input`` without waiting.
    ///
    /// - Returns: `nil` when nothing has arrived, `false` when the peer has ended its direction.
    package func receive(capacity: Int = StoragePool.small) throws(StreamError) -> Bool? {
        guard !isClosed else { throw .closed }
        input.makeRoom(minimum: 1024, capacity: capacity, pool: pool)
        let room = input.room
        switch input.fill({ wire.receive(into: $0) }) {
        case .moved(let count):
            bytesReceived &+= UInt64(count)
            spend(count &+ Turn.callCost)
            if count < room, wire.drainsOnShortReceive { readiness.clearReadable() }
            return true
        case .wouldBlockOnRead:
            readiness.clearReadable()
            return nil
        case .wouldBlockOnWrite:
            readiness.clearReadableUntilWritable()
            return nil
        case .end:
            return false
        case .truncated:
            endWasTruncated = true
            return false
        case .failed(let error):
            throw error
        }
    }

    /// Gives an empty ``input``'s storage back; call it before a long wait.
    package func releaseStorage() { input.releaseIfEmpty(to: pool) }

    /// Sends as much of `bytes` as the peer takes at once, and removes that from them.
    ///
    /// - Returns: whether that was all.
    package func flush(_ bytes: inout [UInt8]) throws(StreamError) -> Bool {
        guard !isClosed else { throw .closed }
        let sent = try moved(by: bytes.withUnsafeBytes { wire.send($0) })
        guard sent < bytes.count else {
            bytes.removeAll(keepingCapacity: true)
            return true
        }
        bytes.removeFirst(sent)
        return false
    }

    /// Sends as much of `head`, then `piece`, then `tail`, as the peer takes at once.
    ///
    /// - Parameter start: where in all of them to begin.
    /// - Returns: how many bytes that were; 0 when the peer takes nothing before
    ///   ``waitForRoom(within:)`` returns.
    @inline(__always)
    package func send(
        _ head: [UInt8], _ piece: Span<UInt8>, _ tail: [UInt8], from start: Int = 0
    ) throws(StreamError) -> Int {
        guard !isClosed else { throw .closed }
        let headSent = min(start, head.count)
        let pieceSent = min(start - headSent, piece.count)
        let tailSent = start - headSent - pieceSent
        return try moved(
            by: head.withUnsafeBytes { first in
                piece.withUnsafeBytes { second in
                    tail.withUnsafeBytes { third in
                        wire.send(
                            UnsafeRawBufferPointer(rebasing: first[headSent...]),
                            UnsafeRawBufferPointer(rebasing: second[pieceSent...]),
                            UnsafeRawBufferPointer(rebasing: third[tailSent...]))
                    }
                }
            })
    }

    /// Waits until a send that moved nothing is worth another try.
    ///
    /// - Parameter timeout: zero waits for ever.
    package func waitForRoom(within timeout: Duration) async throws(StreamError) {
        if roomIsBehindReading {
            try await readiness.readable(within: timeout)
        } else {
            try await readiness.writable(within: timeout)
        }
    }

    /// Sends all of `bytes`.
    ///
    /// - Parameters:
    ///   - start: where in `bytes` to begin.
    ///   - timeout: of each wait for the peer to take more; zero waits for ever.
    package func write(
        _ bytes: [UInt8], from start: Int = 0, within timeout: Duration
    ) async throws(StreamError) {
        var sent = start
        while sent < bytes.count {
            if turnIsOver { await yield() }
            guard !isClosed else { throw .closed }
            let result = bytes.withUnsafeBytes { wire.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            sent += try await account(for: result, within: timeout)
        }
    }

    /// The number of bytes that moved, after waiting if none could.
    private func account(for result: WireResult, within timeout: Duration) async throws(StreamError) -> Int {
        let count = try moved(by: result)
        if case .moved = result { return count }
        try await waitForRoom(within: timeout)
        return 0
    }

    /// The number of bytes that moved at once.
    private func moved(by result: WireResult) throws(StreamError) -> Int {
        switch result {
        case .moved(let count):
            bytesSent &+= UInt64(count)
            spend(count &+ Turn.callCost)
            return count
        case .wouldBlockOnWrite:
            readiness.clearWritable()
            roomIsBehindReading = false
            return 0
        case .wouldBlockOnRead:
            readiness.clearReadable()
            roomIsBehindReading = true
            return 0
        case .end, .truncated:
            throw .reset
        case .failed(let error):
            readiness.markReadable()  // no edge tells a second time of what has just been told here
            throw error
        }
    }
}
