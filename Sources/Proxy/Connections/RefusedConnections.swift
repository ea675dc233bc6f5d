// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// How long a user may take who is to hear a refusal.
private let patience = Duration.seconds(3)

/// One event loop's connections of users who may not use the listener: few, and a moment long, whatever they do.
///
/// Confined to the loop's thread.
final class RefusedConnections {
    /// The most at once; more get no answer.
    private static let most = 16

    private let loop: EventLoop
    /// Ends a connection whose time is over.
    private let end: (ByteStream) -> Void
    private var connections: [(stream: ByteStream, peer: PeerAddress, timer: LoopTimer)] = []

    init(loop: EventLoop, end: @escaping (ByteStream) -> Void) {
        self.loop = loop
        self.end = end
    }

    var isFull: Bool { connections.count >= Self.most }

    func contains(_ stream: ByteStream) -> Bool { connections.contains { $0.stream === stream } }

    func add(_ stream: ByteStream, from peer: PeerAddress) {
        let end = end
        // The timer goes with the entry.
        let timer = LoopTimer(loop: loop) { [unowned stream] in end(stream) }
        timer.set(after: patience)
        connections.append((stream, peer, timer))
    }

    /// Forgets a connection that has ended.
    func remove(_ stream: ByteStream) { connections.removeAll { $0.stream === stream } }

    /// Forgets those whose users may now use the listener; they may stay.
    func remove(admittedBy access: AccessPolicy) { connections.removeAll { access.admits($0.peer) } }
}
