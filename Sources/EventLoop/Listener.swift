// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc
internal import Synchronization

/// A listening socket watched by one loop; each accepted connection becomes a ``ByteStream`` on that loop.
///
/// Confined to its loop's thread. When descriptors run out, or accepting fails for another lasting reason, it
/// pauses and tries again every 100 ms, so that the rest of the process goes on. After a second of failures
/// it reports them to ``hear(_:)``.
package final class Listener {
    /// A change in accepting connections at an address.
    package enum News: Sendable {
        /// No connection could be accepted for a second or longer; the system's text for the reason.
        case failing(String)
        /// Connections are accepted again.
        case working
        /// The listener was closed while it failed.
        case closed
    }

    /// The failures after which they are reported.
    private static let manyFailures = 10
    /// Errors of a single connection that was gone before it was accepted; the listener itself works.
    private static let aborts = [ECONNABORTED, EINTR, EPROTO]
    private static let manyAborts = 64
    private static let ear = Mutex<(@Sendable (String, News) -> Void)?>(nil)

    private let loop: EventLoop
    private let socket: ListeningSocket
    /// Encrypts the connections that come over TCP; nil leaves them plain.
    package var security: (any ConnectionSecurity)? { didSet { encrypts = security != nil } }
    /// True if there is ``security``, which a look from here need not copy.
    private var encrypts = false
    private let onAccept: (ByteStream, PeerAddress) -> Void
    private let onShortage: () -> Void
    private var event: OpaquePointer?
    private var retry: LoopTimer?
    /// True while the owner wants no connections.
    private var isPaused = false { didSet { watchIfWanted() } }
    /// True for a moment after a failure to accept or to watch the socket.
    private var isHeldOff = false { didSet { watchIfWanted() } }
    private var isWatched = false
    /// The most connections that are accepted at once, how many rounds in a row had as many, and the last of these.
    ///
    /// To ask once more whether another one waits is a system call, and tells nothing most often.
    private var burst = 1, fullRounds = 0
    private var lastFullRound: UInt = 0
    private static let fewRounds = 4, largestBurst = 16
    /// Failures since a connection was accepted or the queue was empty.
    private var failures = 0
    /// Connections in a row that were gone before they were accepted.
    private var aborts = 0

    /// - Parameters:
    ///   - socket: stays open until ``close()``; other loops may watch it too.
    ///   - security: encrypts connections over TCP; nil leaves them plain.
    ///   - onShortage: called when descriptors run out, to release what is only kept for later.
    ///   - onAccept: called on the loop's thread with each new connection.
    /// - Throws: ``StreamError/failed(code:)`` if the kernel cannot watch the socket.
    package init(
        _ socket: ListeningSocket, loop: EventLoop, security: (any ConnectionSecurity)? = nil,
        onShortage: @escaping () -> Void = {},
        onAccept: @escaping (ByteStream, PeerAddress) -> Void
    ) throws(StreamError) {
        self.loop = loop
        self.socket = socket
        self.security = security
        encrypts = security != nil
        self.onAccept = onAccept
        self.onShortage = onShortage
        // Accepted sockets inherit it; on a Unix socket it fails and does not matter.
        var on: CInt = 1
        setsockopt(
            socket.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        let context = Unmanaged.passUnretained(self).toOpaque()  // the event is freed in close() or deinit
        event = loop.makeEvent(
            descriptor: socket.descriptor, flags: EV_READ | EV_PERSIST, callback: onPending, context: context)
        guard let event else { throw .failed(code: ENOMEM) }
        guard event_add(event, nil) == 0 else { throw .failed(code: errno) }
        isWatched = true
        retry = LoopTimer(loop: loop) { [unowned self] in isHeldOff = false }
    }

    deinit { if let event { event_free(event) } }

    /// Reports changes in accepting connections to `news`, for all listeners of the process, on any thread.
    package static func hear(_ news: @escaping @Sendable (String, News) -> Void) {
        ear.withLock { $0 = news }
    }

    /// Returns true if it accepts the connections of this socket.
    package func isOn(_ socket: ListeningSocket) -> Bool { self.socket.descriptor == socket.descriptor }

    /// Leaves new connections in the kernel's queue until ``resume()``.
    package func pause() { isPaused = true }

    package func resume() { isPaused = false }

    private func watchIfWanted() {
        let isWanted = !isPaused && !isHeldOff
        guard let event, isWanted != isWatched else { return }
        if !isWanted { event_del(event) }
        isWatched = isWanted && event_add(event, nil) == 0
        if isWanted, !isWatched { holdOff(errno) }
    }

    /// Accepts the connections in the queue, then stops; closing a socket with a queue would reset those
    /// clients.
    package func close() {
        guard let event else { return }
        // Those that come meanwhile do not count: a storm would have no end.
        var left = ListeningSocket.backlog + 1
        while left > 0, acceptOne() { left -= 1 }
        event_free(event)
        self.event = nil
        retry?.cancel()
        if failures >= Self.manyFailures { tell(.closed) }
    }

    fileprivate func acceptPending() {
        // A few at a time, so that a burst of connections does not hold up those that are being served. What is left is told
        // again in the next round.
        for _ in 0..<burst {
            guard isWatched, acceptOne() else {
                (burst, fullRounds) = (1, 0)
                return
            }
        }
        fullRounds = lastFullRound &+ 1 == loop.rounds ? fullRounds + 1 : 0
        lastFullRound = loop.rounds
        burst = fullRounds < Self.fewRounds ? 1 : min(2 * burst, Self.largestBurst)
    }

    private func acceptOne() -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bearerd_accept(socket.descriptor, $0, &length)
            }
        }
        guard descriptor >= 0 else {
            switch errno {
            case EAGAIN: works()  // another loop was faster
            case let code where Self.aborts.contains(code) && aborts < Self.manyAborts:
                aborts += 1
                return true
            case let code: holdOff(code)
            }
            return false
        }
        works()
        let peer = PeerAddress(of: descriptor, storage: &storage, length: length)
        guard let stream = stream(on: descriptor) else {
            _ = Glibc.close(descriptor)
            return true
        }
        onAccept(stream, peer)
        return true
    }

    /// Makes the stream of an accepted connection; nil if it must be encrypted and cannot.
    private func stream(on descriptor: CInt) -> ByteStream? {
        guard encrypts, let security, socket.address != nil else {
            return ByteStream.make(on: descriptor, loop: loop)
        }
        return security.wire(on: descriptor).map { wire in
            ByteStream(wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        }
    }

    private func works() {
        if failures >= Self.manyFailures { tell(.working) }
        failures = 0
        aborts = 0
    }

    /// Stops watching for a moment, because a socket that stays readable would keep the loop busy.
    private func holdOff(_ code: CInt) {
        failures += 1
        aborts = 0
        if failures == Self.manyFailures { tell(.failing(String(cString: strerror(code)))) }
        isHeldOff = true
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC].contains(code) { onShortage() }
        retry?.set(after: .milliseconds(100))
    }

    private func tell(_ news: News) {
        guard let ear = Self.ear.withLock({ $0 }) else { return }
        let place = socket.address.map { host, port in
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
        ear(place ?? "unix:", news)
    }
}

private func onPending(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().acceptPending()
}
