// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// Connections whose clients are silent, each stored as a stream without a task.
///
/// A task keeps the memory of its deepest call while it lives, and an exchange keeps that of its largest
/// head, 8 KiB together; so neither waits longer than a moment. Confined to its loop's thread.
package final class DormantConnections<Origin> {
    /// A silent connection, an element of a doubly linked list.
    package final class Connection {
        package let stream: ByteStream
        package let peer: PeerAddress
        /// The listener that accepted the connection, in the owner's terms.
        package let origin: Origin
        fileprivate let since: ContinuousClock.Instant
        /// Since when nothing has come that its client can have meant; it may have been awake meanwhile.
        package let silentSince: ContinuousClock.Instant
        /// The connection that became silent after this one.
        fileprivate var next: Connection?
        /// The connection that became silent before this one, which owns this one.
        fileprivate unowned var previous: Connection?

        fileprivate init(
            _ stream: ByteStream, peer: PeerAddress, origin: Origin, since: ContinuousClock.Instant,
            silentSince: ContinuousClock.Instant
        ) {
            self.stream = stream
            self.peer = peer
            self.origin = origin
            self.since = since
            self.silentSince = silentSince
        }
    }

    private var limit: Duration
    private let loop: EventLoop
    private let wake: (Connection) -> Void
    /// The head of a list in order of arrival, which is also the order of expiry because all have the same
    /// limit.
    private var first: Connection?
    private var last: Connection?
    private var isTimerSet = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in closeSilent() }

    /// - Parameters:
    ///   - limit: the longest silence of a client; zero sets none.
    ///   - wake: serves a connection again, because its client has sent something or its time is over.
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

    /// Takes a connection on which nothing waits to be received and no task waits.
    ///
    /// - Parameter silentSince: as its ``Connection/silentSince`` was when it was woken, if nothing has come since; else nil.
    package func add(
        _ stream: ByteStream, from peer: PeerAddress, origin: Origin,
        silentSince: ContinuousClock.Instant? = nil
    ) {
        let now = ContinuousClock.now
        let connection = Connection(
            stream, peer: peer, origin: origin, since: now, silentSince: silentSince ?? now)
        append(connection)
        // What woke it each time was nothing, as a record of TLS without data is.
        if limit > .zero, connection.silentSince + limit <= now { return close(connection) }
        stream.readiness.onEdge = { [unowned self, unowned connection] in remove(connection) }
        if stream.isReadable { return remove(connection) }
        if !isTimerSet, limit > .zero { setTimer(at: connection.since + limit) }
    }

    /// Changes the limit of silence, for connections that wait already too.
    package func use(limit: Duration) {
        self.limit = limit
        timer.cancel()
        isTimerSet = false
        if limit > .zero, let first { setTimer(at: first.since + limit) }
    }

    /// Wakes all connections so that their clients are told that the connection ends.
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

    /// Closes the connections whose limit has passed; one timer serves all, set for the first of them.
    private func closeSilent() {
        isTimerSet = false
        let now = ContinuousClock.now
        while limit > .zero, let first {
            guard first.since + limit <= now else { return setTimer(at: first.since + limit) }
            close(first)
        }
    }
}
