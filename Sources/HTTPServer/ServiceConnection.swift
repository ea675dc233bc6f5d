// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdSystem

/// A client's connection to a small service, ranked by how little harm closing it does.
final class ServiceConnection {
    /// The state of a connection, in the order in which connections are closed to make room.
    enum Phase: Int {
        /// It has its last answer, and the client may go on sending for a moment.
        case lingering
        /// It waits for a request, or receives one.
        case receiving
        /// It sends the answer at the client's pace.
        case sending
        /// Its request is being answered, so it is not closed to make room.
        case answering
    }

    /// A new connection is not closed before this, because its client is about to send.
    private static let courtesy = Duration.milliseconds(100)

    let connection: ServerConnection
    /// The user at the other end, once known; a socket does not change its user.
    var peerUser: PeerUser?
    private let acceptedAt = ContinuousClock.now
    private(set) var phase = Phase.receiving
    /// The service's phase count when the current phase began.
    private(set) var since: UInt64

    init(_ connection: ServerConnection, at count: UInt64) {
        self.connection = connection
        since = count
    }

    /// Begins a phase.
    func enter(_ phase: Phase, at count: UInt64) {
        self.phase = phase
        since = count
    }

    /// True if the connection may be closed to make room: no work is done for it, and none of its data is
    /// about to be received.
    var givesWay: Bool {
        switch phase {
        case .answering: false
        case .lingering: true
        // One that would take more only waits for its turn.
        case .sending: !connection.stream.readiness.isWritable
        case .receiving:
            // Received bytes that do not continue a head are about to be read.
            !connection.stream.hasArrivals && (connection.hasReadAll || connection.isDawdling)
                && (connection.stream.bytesReceived > 0 || acceptedAt.duration(to: .now) >= Self.courtesy)
        }
    }

    /// The order of closing, least first: by phase, idle before receiving, then the oldest phase.
    var rank: (Int, Int, UInt64) { (phase.rawValue, connection.isIdle ? 0 : 1, since) }
}
