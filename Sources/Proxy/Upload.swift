// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes

/// A request's body on its way to the upstream.
///
/// What passes is also kept, up to the route's `replay_buffer`, so that the request can be sent again. Framing is made
/// anew: a Content-Length body goes through as it is, a chunked one in chunks of our own.
final class Upload {
    /// Why a body did not get through.
    enum Failure: Error {
        case client(MessageError)
        case upstream(StreamError)
    }

    private let connection: ServerConnection
    private var framing = BodyFraming.none
    private var keepLimit = 0
    private var kept: [UInt8] = []
    private var hasOverflowed = false
    private var timeout = Duration.zero

    /// The failure that ended it, if one did.
    private(set) var failure: Failure?
    /// Whether the last byte, framing included, was handed to the upstream.
    private(set) var isFinished = false
    /// When that was; the upstream's time to answer begins here.
    private(set) var finishedAt = CoarseInstant.now
    /// What carries out ``sendRest(to:)``, while it is under way.
    var task: Task<Void, Never>?
    private var waiter: CheckedContinuation<Void, Never>?
    /// Names of trailer fields that do not go up.
    var unwantedTrailers: [HTTPFields.Name] = []
    /// Those that do not go up in any spelling.
    var reservedNames = ReservedNames([])
    /// What goes before the next piece: the head, framing, what was kept, what the upstream did not take at once.
    private var prefix: [UInt8] = []
    /// Whether the end's framing is written.
    private var hasEnd = false

    init(connection: ServerConnection) {
        self.connection = connection
    }

    /// Prepares for the body of the request at hand, which the connection has begun.
    ///
    /// - Parameters:
    ///   - framing: the body's, as it came.
    ///   - keepLimit: how many bytes are kept for sending them again.
    ///   - timeout: of each wait, for the client as well as for the upstream.
    func begin(_ framing: BodyFraming, keepLimit: Int, timeout: Duration) {
        self.framing = framing
        self.keepLimit = keepLimit
        self.timeout = timeout
        if kept.capacity > 4096 { kept = [] } else if !kept.isEmpty { kept.removeAll(keepingCapacity: true) }
        if prefix.capacity > StoragePool.small { prefix = [] }
        hasOverflowed = false
        failure = nil
        isFinished = false
    }

    /// Whether ``sendRest(to:)`` is under way.
    var isRunning: Bool { task != nil }

    /// Whether all of the body that has left the client's buffer is kept.
    var isWholeKept: Bool { !hasOverflowed }

    /// Whether the body is known to be more than can be kept.
    var isTooLong: Bool {
        guard case .length(let length) = framing else { return hasOverflowed }
        return length > UInt64(keepLimit)
    }

    /// Whether the whole body has come from the client.
    var hasArrived: Bool { connection.body.isFinished }

    /// Sends the head, what was kept before, and what has arrived so far: as much as the upstream takes at once.
    ///
    /// Afterwards ``isFinished`` says whether that was all; what is left, or would be more than a turn, is for
    /// ``sendRest(to:)``.
    func sendStart(to upstream: ByteStream) throws(Failure) {
        failure = nil
        isFinished = false
        hasEnd = false
        if !prefix.isEmpty { prefix.removeAll(keepingCapacity: true) }
        connection.request.serialize(into: &prefix)
        appendKept()
        var takesMore = true
        while takesMore, !upstream.turnIsOver {
            let piece: Range<Int>?
            do { piece = try connection.body.nextBuffered() } catch { throw fail(.client(error)) }
            guard let piece else { break }
            takesMore = try forwardAtOnce(piece, to: upstream)
        }
        guard takesMore else { return }
        if hasArrived { appendEnd() }
        if !prefix.isEmpty { takesMore = try flushAtOnce(to: upstream) }
        if hasArrived, takesMore { finish() }
    }

    /// Sends what is still to come, as it comes.
    func sendRest(to upstream: ByteStream) async {
        defer {
            task = nil
            wakeWaiter()
        }
        do throws(Failure) {
            if !prefix.isEmpty { try await flush(to: upstream) }
            while true {
                // Whoever stops an upload wakes it from a wait; one that has not begun to wait must not begin.
                guard upstream.isOpen else { throw .upstream(.closed) }
                let piece: Range<Int>?
                do {
                    piece = try await connection.body.next(within: timeout)
                } catch {
                    throw .client(error)
                }
                guard let piece else { break }
                try await forward(piece, to: upstream)
            }
            appendEnd()
            if !prefix.isEmpty { try await flush(to: upstream) }
            finish()
        } catch {
            failure = error
        }
    }

    /// Takes the body before it has an upstream, to send it from what is kept: until as much is kept as may be, or one
    /// piece more, which the connection had in its buffer.
    func gather() async throws(Failure) {
        while !hasArrived, kept.count < keepLimit {
            let piece: Range<Int>?
            do { piece = try await connection.body.next(within: timeout) } catch {
                throw fail(.client(error))
            }
            guard let piece else { return }
            connection.stream.input.copy(piece, into: &kept)
            consume(piece)
        }
    }

    /// Waits for the rest of the body, to keep it, whether the upstream takes it or not.
    func takeRest(within limit: Duration, on loop: EventLoop) async {
        let deadline = ContinuousClock.now + limit
        await awaitEnd(within: limit, on: loop)
        while case .upstream = failure, !hasArrived, !hasOverflowed {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero, let piece = try? await connection.body.next(within: remaining) else {
                return
            }
            keep(piece)
            consume(piece)
        }
    }

    /// Waits until ``sendRest(to:)`` is over.
    private func awaitEnd(within limit: Duration, on loop: EventLoop) async {
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

    private func fail(_ failure: Failure) -> Failure {
        self.failure = failure
        return failure
    }

    private func finish() {
        isFinished = true
        finishedAt = .now
    }

    private static let lineEnd = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]

    private func forward(_ piece: Range<Int>, to upstream: ByteStream) async throws(Failure) {
        let tail = begin(piece)
        do {
            try await upstream.write(
                prefix, forwarding: piece, of: connection.stream, tail: tail, within: timeout)
        } catch {
            consume(piece)
            throw fail(.upstream(error))
        }
        prefix.removeAll(keepingCapacity: true)
        consume(piece)
    }

    /// - Returns: whether the upstream took all of it; what it left is in ``prefix``.
    private func forwardAtOnce(_ piece: Range<Int>, to upstream: ByteStream) throws(Failure) -> Bool {
        let tail = begin(piece)
        defer { consume(piece) }
        let sent: Int
        do {
            sent = try upstream.send(prefix, forwarding: piece, of: connection.stream, tail: tail)
        } catch {
            throw fail(.upstream(error))
        }
        guard sent < prefix.count + piece.count + tail.count else {
            prefix.removeAll(keepingCapacity: true)
            return true
        }
        connection.stream.input.copy(piece, into: &prefix)
        prefix.append(contentsOf: tail)
        prefix.removeFirst(sent)
        return false
    }

    /// Keeps a piece, and writes the framing before it.
    ///
    /// - Returns: the framing behind it.
    private func begin(_ piece: Range<Int>) -> [UInt8] {
        keep(piece)
        guard framing == .chunked else { return [] }
        ChunkedEncoder.head(of: piece.count, into: &prefix)
        return Self.lineEnd
    }

    /// Takes a piece out of the client's input, whether the upstream got it or not: its framing is behind it, so what
    /// stayed would be read as the next request.
    private func consume(_ piece: Range<Int>) {
        guard connection.stream.isOpen else { return }
        connection.stream.input.consume(piece.upperBound)
    }

    private func flush(to upstream: ByteStream) async throws(Failure) {
        do {
            try await upstream.write(prefix, within: timeout)
        } catch {
            throw fail(.upstream(error))
        }
        prefix.removeAll(keepingCapacity: true)
    }

    /// - Returns: whether the upstream took all of ``prefix``; what it left is still there.
    private func flushAtOnce(to upstream: ByteStream) throws(Failure) -> Bool {
        let sent: Int
        do {
            sent = try upstream.send(prefix)
        } catch {
            throw fail(.upstream(error))
        }
        guard sent < prefix.count else {
            prefix.removeAll(keepingCapacity: true)
            return true
        }
        prefix.removeFirst(sent)
        return false
    }

    private func keep(_ piece: Range<Int>) {
        guard !hasOverflowed else { return }
        guard kept.count + piece.count <= keepLimit else {
            hasOverflowed = true
            kept = []
            return
        }
        connection.stream.input.copy(piece, into: &kept)
    }

    private func appendKept() {
        guard !kept.isEmpty else { return }
        if framing == .chunked { ChunkedEncoder.head(of: kept.count, into: &prefix) }
        prefix.append(contentsOf: kept)
        if framing == .chunked { ChunkedEncoder.dataEnd(into: &prefix) }
    }

    private func appendEnd() {
        guard framing == .chunked, !hasEnd else { return }
        hasEnd = true
        var trailers = connection.body.trailers.without(unwantedTrailers)
        trailers.removeLookalikes(of: reservedNames)
        ChunkedEncoder.end(trailers: trailers, into: &prefix)
    }
}
