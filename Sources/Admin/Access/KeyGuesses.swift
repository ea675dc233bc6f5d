// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPServer
internal import OAuth
internal import Synchronization

/// Counts the wrong keys of each peer within a minute.
///
/// After ten wrong keys a peer's keys are not judged until its minute is over; a right one in between changes
/// nothing.
final class KeyGuesses: Sendable {
    private struct Minute {
        let begin: Instant
        var count: Int
    }

    private static let minute = Duration.seconds(60)
    private static let most = 10
    /// The most peers that are remembered; beyond it the oldest is forgotten.
    private static let longestTable = 1024

    private let minutes = Mutex<[[UInt8]: Minute]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant = { ContinuousClock.now }) {
        self.now = now
    }

    /// The number of remembered peers.
    var count: Int { minutes.withLock { $0.count } }

    /// The time until the peer's keys are judged again; nil if they are.
    func delay(for peer: PeerAddress) -> Duration? {
        let now = now()
        return minutes.withLock { minutes in
            guard let minute = minutes[peer.party], minute.count >= Self.most else { return nil }
            let rest = minute.begin + Self.minute - now
            return rest > .zero ? rest : nil
        }
    }

    /// Counts wrong keys.
    func wrong(_ count: Int, from peer: PeerAddress) {
        let now = now()
        let guesser = peer.party
        minutes.withLock { minutes in
            if let minute = minutes[guesser], minute.begin + Self.minute > now {
                minutes[guesser]?.count = minute.count + count
                return
            }
            minutes[guesser] = nil
            if minutes.count >= Self.longestTable {
                minutes = minutes.filter { $0.value.begin + Self.minute > now }
                if minutes.count >= Self.longestTable,
                    let oldest = minutes.min(by: { $0.value.begin < $1.value.begin })
                {
                    minutes[oldest.key] = nil
                }
            }
            minutes[guesser] = Minute(begin: now, count: count)
        }
    }
}
