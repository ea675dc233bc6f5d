// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// One connection as two directions of bytes, with back-pressure and a time-out on every wait.
///
/// Received bytes stay in ``input`` until the caller consumes them, and nothing is received without a call. A
/// task that has moved a whole ``TurnBudget`` of bytes lets others run, even if it never had to wait. Confined to
/// its loop's thread; at most one task reads and one writes at a time.
package final class ByteStream {
    /// The bytes that were received and not consumed.
    package let input = ByteBuffer()
    package let readiness: Readiness
    /// The number of bytes received since the connection began.
    package var bytesReceived: UInt64 { received }
    package var bytesSent: UInt64 { sent }
    private var received: UInt64 = 0
    private var sent: UInt64 = 0
    /// True if TLS ended without close_notify, so that the peer's data may be incomplete.
    package var endWasTruncated: Bool { isTruncated }
    private var isTruncated = false
    /// True if the connection is encrypted.
    package let isEncrypted: Bool
    /// The end of validity of the peer's certificate in seconds since 1970; nil without one.
    package var peerCertificateEnd: Int64? { wire.peerCertificateEnd }
    /// False once a certificate has ended that the peer, a client, was accepted with.
    package var peerIsCurrent: Bool { wire.peerIsCurrent }
    /// The protocol that both sides have agreed on in their handshake (ALPN, RFC 7301); nil where they have not.
    package var applicationProtocol: ApplicationProtocol? { wire.applicationProtocol }
    /// The names in the peer's certificate; none once the connection is closed.
    package var peerNames: PeerNames { isClosed ? .none : wire.peerNames }

    private let wire: any Wire
    /// ``wire`` if it is one that a spare stream may have.
    private let socket: SocketWire?
    private let loop: EventLoop
    private let pool: StoragePool
    /// The loop's counter of the running job's turn; the loop outlives this object.
    @usableFromInline let allowance: UnsafeMutablePointer<Int>
    private var isClosed = false
    /// True if a send waits until something can be received, as TLS may require.
    private var roomIsBehindReading = false

    package convenience init(wire: any Wire, readiness: Readiness, loop: EventLoop) {
        self.init(wire, nil, readiness, loop)
    }

    private init(_ wire: any Wire, _ socket: SocketWire?, _ readiness: Readiness, _ loop: EventLoop) {
        self.wire = wire
        self.socket = socket
        isEncrypted = wire.isEncrypted
        self.readiness = readiness
        self.loop = loop
        pool = loop.storagePool
        allowance = loop.allowance
    }

    deinit { close() }

    /// Makes a stream of a plain socket, which it closes; a spare one, if there is one.
    package static func make(on descriptor: Int32, loop: EventLoop) -> ByteStream {
        if let spare = loop.spareStreams.value.popLast() {
            spare.begin(on: descriptor)
            return spare
        }
        let socket = SocketWire(descriptor: descriptor)
        return ByteStream(socket, socket, Readiness(descriptor: descriptor, loop: loop), loop)
    }

    private func begin(on descriptor: CInt) {
        precondition(isClosed && input.isEmpty, "a stream is replaced that is in use")
        socket?.begin(on: descriptor)
        readiness.begin(on: descriptor)
        received = 0
        sent = 0
        isTruncated = false
        roomIsBehindReading = false
        isClosed = false
    }

    /// Keeps a stream for the next connection, if it was closed and nobody else knows it.
    ///
    /// To make one and what it consists of, and to free it all, costs 1,600 instructions, 6 % of a connection with one request.
    package static func keepSpare(_ stream: inout ByteStream) {
        guard isKnownUniquelyReferenced(&stream), stream.isClosed, stream.socket != nil,
            stream.readiness.isOver, stream.loop.spareStreams.value.count < mostSpares
        else { return }
        stream.loop.spareStreams.value.append(stream)
    }

    private static var mostSpares: Int { 16 }

    /// Returns true if the connection is open and would be accepted under `security`.
    package func isAdmitted(by security: any ConnectionSecurity) -> Bool {
        !isClosed && security.admits(wire)
    }

    /// Ends both directions at once and frees the descriptor; over TLS the peer sees a cut.
    ///
    /// Waiting tasks get ``StreamError/closed``. Calling it again does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        readiness.cancel()
        wire.close()
        input.consume(input.count)
        input.releaseIfEmpty(to: pool)
    }

    /// True until our side closes the connection.
    package var isOpen: Bool { !isClosed }

    /// Ends both directions so that the peer sees a failure instead of an orderly end.
    package func abort() {
        guard !isClosed else { return }
        wire.resetOnClose()
        close()
    }

    /// True if the sending direction can end alone, so that the peer may go on sending.
    package var canEndSending: Bool { wire.canEndSending }

    /// Ends the sending direction.
    ///
    /// - Parameter timeout: limits each wait for the peer to take bytes; zero waits for ever.
    package func endSending(within timeout: Duration) async {
        while !isClosed, case .wouldBlockOnWrite = wire.endSending() {
            readiness.clearWritable()
            do { try await readiness.writable(within: timeout) } catch { return }
        }
    }

    /// Announces that the next write is the last one, so that the client can get the data and the end in one
    /// segment.
    package func endFollows() { wire.endFollows() }

    /// Closes in the same way, unless the peer must be waited for.
    ///
    /// - Returns: false if it must be.
    package func finishAtOnce() -> Bool {
        if !isClosed, wire.announcesEnd, case .wouldBlockOnWrite = wire.endSending() {
            readiness.clearWritable()
            return false
        }
        close()
        return true
    }

    /// Closes so that the peer knows that it has received everything.
    ///
    /// - Parameter timeout: limits each wait for the peer to take bytes; zero waits for ever.
    package func finish(within timeout: Duration) async {
        if wire.announcesEnd { await endSending(within: timeout) }
        close()
    }

    /// Performs the TLS handshake; does nothing on a plain connection.
    ///
    /// - Parameter limit: limits the whole handshake; zero waits for ever.
    package func handshake(within limit: Duration) async throws(StreamError) {
        let deadline: ContinuousClock.Instant? = limit > .zero ? .now + limit : nil
        while !isClosed {
            let result = wire.handshake()
            if case .moved = result {
                // Nobody who has to wait with a send is to wait for the peer's words, in the place of whoever receives.
                roomIsBehindReading = false
                return
            }
            let remaining = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let remaining, remaining <= .zero { throw .timedOut }
            _ = try await account(for: result, within: remaining ?? .zero)
        }
        throw .closed
    }

    /// Returns true if the announced end of TLS comes next in the data that has arrived; receives nothing.
    ///
    /// - Parameter hasArrived: true if the kernel has bytes to receive.
    func hasFoundEnd(hasArrived: Bool) -> Bool { wire.hasFoundEnd(hasArrived: hasArrived) }

    /// Counts work of the running job other than moving bytes.
    ///
    /// - Parameter cost: in the units of ``TurnBudget``.
    @inline(__always)
    package func spend(_ cost: Int) { allowance.pointee &-= cost }

    /// Consumes the bytes of ``input`` with which a piece of work begins.
    ///
    /// - Parameters:
    ///   - count: the number of bytes.
    ///   - cost: the cost of the work in the units of ``TurnBudget``.
    @inline(__always)
    package func take(_ count: Int, for cost: Int) {
        input.consume(count)
        spend(cost)
    }

    /// True if the running job has used up its turn and should ``yield()``.
    @inline(__always)
    package var turnIsOver: Bool { allowance.pointee <= 0 }

    /// Lets other jobs run; the stream may be closed afterwards.
    package func yield() async { await loop.yield() }

    /// Waits for bytes and appends them to ``input``.
    ///
    /// - Parameters:
    ///   - timeout: limits the wait for the first byte; zero waits for ever.
    ///   - capacity: the most bytes of one receive if the buffer is empty.
    ///   - isInside: true if a message is incomplete, so that more must come.
    /// - Returns: false if the peer has ended its direction.
    package func fill(
        within timeout: Duration, capacity: Int = StoragePool.small, isInside: Bool = false
    ) async throws(StreamError) -> Bool {
        try await receiveSome(within: timeout, capacity: capacity, isInside: isInside)
    }

    /// Gives a large block of ``input`` back that holds nothing, so that the next receive brings little.
    package func shrinkInput() { input.shrinkIfEmpty(to: pool) }

    /// Waits for more of an incomplete message and appends it to ``input``.
    ///
    /// - Parameter timeout: limits the wait for the first byte; zero waits for ever.
    /// - Returns: false if the peer has ended its direction.
    package func more(within timeout: Duration) async throws(StreamError) -> Bool {
        try await receiveSome(within: timeout, capacity: StoragePool.small, isInside: true)
    }

    @inline(__always)
    private func receiveSome(
        within timeout: Duration, capacity: Int, isInside: Bool
    ) async throws(StreamError) -> Bool {
        var limit = SilenceLimit(timeout)
        while true {
            if readiness.isReadable {
                if turnIsOver { await yield() }
                if let hasBytes = try receive(capacity: capacity) { return hasBytes }
            }
            input.releaseIfEmpty(to: pool)
            try await readiness.readable(within: try limit.next(), isInside: isInside)
        }
    }

    /// Appends data that has already arrived to ``input``, without waiting.
    ///
    /// - Returns: nil if nothing has arrived, false if the peer has ended its direction.
    package func receive(capacity: Int = StoragePool.small) throws(StreamError) -> Bool? {
        guard !isClosed else { throw .closed }
        input.makeRoom(minimum: 1024, capacity: capacity, pool: pool)
        let room = input.room
        defer { if isEncrypted { spend(wire.workBeside) } }
        switch input.fill({ wire.receive(into: $0) }) {
        case .moved(let count):
            received &+= UInt64(count)
            spend(count &+ TurnBudget.callCost)
            if count < room, wire.drainsOnShortReceive { readiness.clearReadable() }
            return true
        case .wouldBlockOnRead:
            readiness.clearReadable()
            return nil
        case .wouldBlockOnWrite:
            readiness.clearReadableUntilWritable()
            return nil
        case .end: return false
        case .truncated:
            isTruncated = true
            return false
        case .failed(let error): throw error
        }
    }

    /// Gives back the storage of an empty ``input``; call it before a long wait.
    package func releaseStorage() { input.releaseIfEmpty(to: pool) }

    /// Sends as much of `bytes` as the peer takes at once, and removes that part.
    ///
    /// - Returns: true if nothing is left.
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

    /// Does the same with a block.
    package func flush(_ block: inout ByteBlock) throws(StreamError) -> Bool {
        guard !isClosed else { throw .closed }
        let count = block.count
        let sent = try moved(
            by: block.bytes.withUnsafeBytes { wire.send(UnsafeRawBufferPointer(rebasing: $0[..<count])) })
        guard sent < count else {
            block.removeAll(keepingCapacity: true)
            return true
        }
        block.removeFirst(sent)
        return false
    }

    /// Sends as much of `head`, then `piece`, then `tail`, as the peer takes at once.
    ///
    /// - Parameter start: the number of leading bytes of the three that have been sent before.
    /// - Returns: the number of bytes sent; 0 if the peer takes none until ``waitForRoom(within:)`` returns.
    @inline(__always)
    package func send(
        _ head: borrowing ByteBlock, _ piece: Span<UInt8>, _ tail: [UInt8], from start: Int = 0
    ) throws(StreamError) -> Int {
        guard !isClosed else { throw .closed }
        let headCount = head.count
        let headSent = min(start, headCount)
        let pieceSent = min(start - headSent, piece.count)
        let tailSent = start - headSent - pieceSent
        return try moved(
            by: head.bytes.withUnsafeBytes { first in
                piece.withUnsafeBytes { second in
                    tail.withUnsafeBytes { third in
                        wire.send(
                            UnsafeRawBufferPointer(rebasing: first[headSent..<headCount]),
                            UnsafeRawBufferPointer(rebasing: second[pieceSent...]),
                            UnsafeRawBufferPointer(rebasing: third[tailSent...]))
                    }
                }
            })
    }

    /// Waits until a send that moved nothing should be tried again.
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
    ///   - start: the number of leading bytes that have been sent before.
    ///   - timeout: limits each wait for the peer to take more; zero waits for ever.
    package func write(
        _ bytes: [UInt8], from start: Int = 0, within timeout: Duration
    ) async throws(StreamError) {
        try await write(bytes, start..<bytes.count, within: timeout)
    }

    /// Does the same with a block.
    package func write(_ block: ByteBlock, within timeout: Duration) async throws(StreamError) {
        try await write(block.bytes, 0..<block.count, within: timeout)
    }

    private func write(
        _ bytes: [UInt8], _ part: Range<Int>, within timeout: Duration
    ) async throws(StreamError) {
        var sent = part.lowerBound
        while sent < part.upperBound {
            if turnIsOver { await yield() }
            guard !isClosed else { throw .closed }
            let result = bytes.withUnsafeBytes {
                wire.send(UnsafeRawBufferPointer(rebasing: $0[sent..<part.upperBound]))
            }
            sent += try await account(for: result, within: timeout)
        }
    }

    /// Returns the number of bytes that moved, after waiting if none could move.
    private func account(for result: WireResult, within timeout: Duration) async throws(StreamError) -> Int {
        let count = try moved(by: result)
        if case .moved = result { return count }
        try await waitForRoom(within: timeout)
        return 0
    }

    /// Returns the number of bytes that moved at once.
    private func moved(by result: WireResult) throws(StreamError) -> Int {
        switch result {
        case .moved(let count):
            sent &+= UInt64(count)
            spend(count &+ TurnBudget.callCost)
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
