// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPServer
internal import OAuth
internal import Synchronization

/// The wrong keys of the last minute, by who gave them.
///
/// After ten of one peer none of its keys counts until its minute is over; a right one in between changes nothing.
final class KeyGuesses: Sendable {
    private struct Minute {
        let begin: Instant
        var count: Int
    }

    private static let minute = Duration.seconds(60)
    private static let most = 10
    /// Peers that are remembered; beyond it the one that began longest ago is forgotten.
    private static let longestTable = 1024

    private let minutes = Mutex<[[UInt8]: Minute]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant = { ContinuousClock.now }) {
        self.now = now
    }

    /// How many peers are remembered.
    var count: Int { minutes.withLock { $0.count } }

    /// How long the peer's keys do not count yet; nil if they do.
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
