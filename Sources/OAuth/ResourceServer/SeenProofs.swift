// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The proofs that were accepted, each for as long as it could be shown again (RFC 9449 §11.1).
///
/// Bounded: a key may have every other place that is free, and a sixteenth of all in any case, so that one client can neither
/// push out what others have shown nor take all places.
struct SeenProofs {
    private struct Entry {
        let digest: [UInt8]
        let thumbprint: String
        let end: Instant
    }

    /// The result of showing a proof.
    enum Verdict {
        case new
        /// It was shown before, and is still remembered.
        case repeated
        /// No place is left for a proof of this key, so that a repetition could not be told.
        case full
    }

    /// The most proofs remembered at once.
    private let capacity: Int
    /// The share of one key while there are few others.
    private func share(of thumbprint: String) -> Int {
        max(1, capacity / 16, (capacity - digests.count + counts[thumbprint, default: 0]) / 2)
    }
    private var digests: Set<[UInt8]> = []
    private var counts: [String: Int] = [:]
    /// The entries in the order of their ends; those before `first` are over.
    private var entries: [Entry] = []
    private var first = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Remembers a proof for `duration`.
    mutating func show(
        _ identifier: String, of thumbprint: String, at now: Instant, keepingFor duration: Duration
    ) -> Verdict {
        dropThoseOver(at: now)
        let digest = SHA256.digest(Array("\(thumbprint) \(identifier)".utf8))
        guard !digests.contains(digest) else { return .repeated }
        let count = counts[thumbprint, default: 0]
        guard digests.count < capacity, count < share(of: thumbprint) else { return .full }
        digests.insert(digest)
        counts[thumbprint] = count + 1
        entries.append(Entry(digest: digest, thumbprint: thumbprint, end: now + duration))
        return .new
    }

    private mutating func dropThoseOver(at now: Instant) {
        while first < entries.count, entries[first].end <= now {
            let entry = entries[first]
            digests.remove(entry.digest)
            let left = counts[entry.thumbprint, default: 1] - 1
            counts[entry.thumbprint] = left == 0 ? nil : left
            first += 1
        }
        // Moved rarely, so that it costs a constant for each proof.
        if first > 64, first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }
}
