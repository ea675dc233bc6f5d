// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdSystem

/// A client's connection to a small service, and how much it would be missed.
final class ServiceConnection {
    /// What is being done for the client; in this order connections give way to new ones.
    enum Phase: Int {
        /// It has its last answer and may go on sending for a moment.
        case lingering
        /// It waits for a request, or receives one.
        case receiving
        /// It takes its answer, no faster than it likes.
        case sending
        /// Its request is being worked on, so that it does not give way.
        case answering
    }

    /// Who has just connected is about to speak.
    private static let courtesy = Duration.milliseconds(100)

    let connection: ServerConnection
    /// The user at the other end, once that is known: a socket does not change its user.
    var peerUser: PeerUser?
    private let acceptedAt = ContinuousClock.now
    private(set) var phase = Phase.receiving
    /// When the phase began, in phases of all connections of the service.
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

    /// Whether it may be closed for the sake of another: nothing is done for it, and nothing of it has arrived that would
    /// be received in a moment.
    var givesWay: Bool {
        switch phase {
        case .answering: false
        case .lingering: true
        // One that would take more only waits for its turn.
        case .sending: !connection.stream.readiness.isWritable
        case .receiving:
            // What was received and is no part of a head that goes on has its turn in a moment.
            !connection.stream.hasArrivals && (connection.hasReadAll || connection.isDawdling)
                && (connection.stream.bytesReceived > 0 || acceptedAt.duration(to: .now) >= Self.courtesy)
        }
    }

    /// What goes first is least: of each phase the oldest, and who waits for a request before who sends one.
    var rank: (Int, Int, UInt64) { (phase.rawValue, connection.isIdle ? 0 : 1, since) }
}
