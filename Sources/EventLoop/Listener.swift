// SPDX-License-Identifier: Apache-2.0

internal import CLibevent
internal import CSystem
internal import Glibc

/// A listening socket watched by one loop; each accepted connection becomes a ``ByteStream`` on that loop.
///
/// Confined to its loop's thread. When descriptors run out it pauses and looks again every 100 ms, so that the rest of
/// the process goes on.
package final class Listener {
    private let loop: EventLoop
    private let socket: ListeningSocket
    /// Encrypts the connections that come over TCP; nil leaves them plain.
    package var security: (any ConnectionSecurity)?
    private let onAccept: (ByteStream, PeerAddress) -> Void
    private let onShortage: () -> Void
    private var event: OpaquePointer?
    private var retry: LoopTimer?
    /// Whether its owner wants no connections for now.
    private var isPaused = false { didSet { watchIfWanted() } }
    /// Whether the last connection found no descriptor, or the socket could not be watched, a moment ago.
    private var lacksDescriptors = false { didSet { watchIfWanted() } }
    private var isWatched = false

    /// - Parameters:
    ///   - socket: stays open until ``close()``; other loops may watch the same one.
    ///   - security: encrypts the connections over TCP; nil leaves them plain.
    ///   - onShortage: lets go of what is only kept for later; there are too few descriptors for the next connection.
    ///   - onAccept: gets each new connection on the loop's thread.
    /// - Throws: ``StreamError/failed(code:)`` when the kernel cannot watch the socket.
    package init(
        _ socket: ListeningSocket, loop: EventLoop, security: (any ConnectionSecurity)? = nil,
        onShortage: @escaping () -> Void = {},
        onAccept: @escaping (ByteStream, PeerAddress) -> Void
    ) throws(StreamError) {
        self.loop = loop
        self.socket = socket
        self.security = security
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
        retry = LoopTimer(loop: loop) { [unowned self] in lacksDescriptors = false }
    }

    deinit { if let event { event_free(event) } }

    /// Leaves new connections in the kernel's queue until ``resume()``.
    package func pause() { isPaused = true }

    /// Accepts again.
    package func resume() { isPaused = false }

    private func watchIfWanted() {
        let isWanted = !isPaused && !lacksDescriptors
        guard let event, isWanted != isWatched else { return }
        if !isWanted { event_del(event) }
        isWatched = isWanted && event_add(event, nil) == 0
        if isWanted, !isWatched { awaitDescriptors() }
    }

    /// Takes what still waits in the queue, then stops; closing with a queue would reset those clients.
    package func close() {
        guard let event else { return }
        // Those that come meanwhile do not count: a storm would have no end.
        var left = ListeningSocket.backlog + 1
        while left > 0, acceptOne() { left -= 1 }
        event_free(event)
        self.event = nil
        retry?.cancel()
    }

    fileprivate func acceptPending() {
        // A few at a time, so that a burst of connections does not hold up those that are being served.
        for _ in 0..<16 {
            guard isWatched, acceptOne() else { return }
        }
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
            case ECONNABORTED, EINTR, EPROTO:
                return true
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                awaitDescriptors()
                return false
            default:
                return false
            }
        }
        let peer = PeerAddress(of: descriptor, storage: &storage, length: length)
        guard let wire = wire(on: descriptor) else {
            _ = Glibc.close(descriptor)
            return true
        }
        let stream = ByteStream(
            wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        onAccept(stream, peer)
        return true
    }

    /// What the connection's bytes pass through; nil if it cannot be encrypted, and must not go on without.
    private func wire(on descriptor: CInt) -> (any Wire)? {
        guard let security, socket.address != nil else { return SocketWire(descriptor: descriptor) }
        return security.wire(on: descriptor)
    }

    private func awaitDescriptors() {
        lacksDescriptors = true
        onShortage()
        retry?.set(after: .milliseconds(100))
    }
}

private func onPending(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().acceptPending()
}
