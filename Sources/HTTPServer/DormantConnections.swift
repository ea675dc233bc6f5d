// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// Connections whose clients are silent: each is a stream and nothing else.
///
/// A task keeps the memory of its deepest call for as long as it lives, and an exchange that of its largest head: 8 KiB
/// together. So neither waits with a client for longer than a moment. Confined to its loop's thread.
package final class DormantConnections<Origin> {
    /// One of them.
    package final class Connection {
        package let stream: ByteStream
        package let peer: PeerAddress
        /// What its owner knows of where it came in.
        package let origin: Origin
        fileprivate let since: ContinuousClock.Instant
        /// The one that came after it.
        fileprivate var next: Connection?
        /// The one that came before it, which holds it.
        fileprivate unowned var previous: Connection?

        fileprivate init(
            _ stream: ByteStream, peer: PeerAddress, origin: Origin, since: ContinuousClock.Instant
        ) {
            self.stream = stream
            self.peer = peer
            self.origin = origin
            self.since = since
        }
    }

    private var limit: Duration
    private let loop: EventLoop
    private let wake: (Connection) -> Void
    /// A list in the order in which they came: all may be silent equally long, so that is the order of their ends too.
    private var first: Connection?
    private var last: Connection?
    private var isTimerSet = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in closeSilent() }

    /// - Parameters:
    ///   - limit: how long a client may be silent in here; zero for ever.
    ///   - wake: serves a connection again; its client is no longer silent, or is to be told the end.
    package init(loop: EventLoop, limit: Duration, wake: @escaping (Connection) -> Void) {
        self.loop = loop
        self.limit = limit
        self.wake = wake
    }

    deinit {
        // One by one: each holds the next, and 10,000 that free each other would take as many frames of the stack.
        while let first { unlink(first) }
    }

    package var isEmpty: Bool { first == nil }

    /// Takes a connection that has nothing to receive and nobody who waits for it.
    package func add(_ stream: ByteStream, from peer: PeerAddress, origin: Origin) {
        let connection = Connection(stream, peer: peer, origin: origin, since: .now)
        append(connection)
        stream.readiness.onEdge = { [unowned self, unowned connection] in remove(connection) }
        if stream.readiness.isReadable { return remove(connection) }
        if !isTimerSet, limit > .zero { setTimer(at: connection.since + limit) }
    }

    /// Lets clients be silent for another time from here on, those that are already too.
    package func use(limit: Duration) {
        self.limit = limit
        timer.cancel()
        isTimerSet = false
        if limit > .zero, let first { setTimer(at: first.since + limit) }
    }

    /// Has all of them told the end.
    package func closeAll() {
        let end = last
        while let connection = first {
            close(connection)
            if connection === end { break }
        }
    }

    private func append(_ connection: Connection) {
        connection.previous = last
        if let last { last.next = connection } else { first = connection }
        last = connection
    }

    private func unlink(_ connection: Connection) {
        let (previous, next) = (connection.previous, connection.next)
        if let next { next.previous = previous } else { last = previous }
        if let previous { previous.next = next } else { first = next }
        connection.next = nil
        connection.previous = nil
    }

    private func remove(_ connection: Connection) {
        connection.stream.readiness.onEdge = nil
        unlink(connection)
        wake(connection)
    }

    private func close(_ connection: Connection) {
        remove(connection)
        // Whoever serves it finds the wait for a request at its end.
        connection.stream.readiness.interruptReader()
    }

    private func setTimer(at instant: ContinuousClock.Instant) {
        isTimerSet = true
        timer.set(after: max(ContinuousClock.now.duration(to: instant), .milliseconds(1)))
    }

    /// One timer for all: it is set to the first of those that there are when it fires.
    private func closeSilent() {
        isTimerSet = false
        let now = ContinuousClock.now
        while limit > .zero, let first {
            guard first.since + limit <= now else { return setTimer(at: first.since + limit) }
            close(first)
        }
    }
}
