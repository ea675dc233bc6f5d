// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The proofs that were accepted, each for as long as it could be shown again (RFC 9449 §11.1).
///
/// Bounded: a subject may have every other place that is free, and a sixteenth of all while there is room, so that one person
/// or client can neither push out what others have shown nor take all places. Its keys are counted together, since anybody
/// can make more of them.
struct SeenProofs {
    private struct Entry {
        let digest: [UInt8]
        let subject: String
        let end: Instant
    }

    /// The result of showing a proof.
    enum Verdict {
        case new
        /// It was shown before, and is still remembered.
        case repeated
        /// No place is left for a proof of this subject, so that a repetition could not be told.
        case full
    }

    /// The most proofs remembered at once.
    private let capacity: Int
    /// The share of one subject while there are few others.
    private func share(of subject: String) -> Int {
        max(1, capacity / 16, (capacity - digests.count + counts[subject, default: 0]) / 2)
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
    ///
    /// - Parameters:
    ///   - thumbprint: that of the key that it was made with.
    ///   - subject: the person or client that the key's token is about.
    mutating func show(
        _ identifier: String, of thumbprint: String, by subject: String, at now: Instant,
        keepingFor duration: Duration
    ) -> Verdict {
        dropThoseOver(at: now)
        let digest = SHA256.digest(Array("\(thumbprint) \(identifier)".utf8))
        guard !digests.contains(digest) else { return .repeated }
        let count = counts[subject, default: 0]
        guard digests.count < capacity, count < share(of: subject) else { return .full }
        digests.insert(digest)
        counts[subject] = count + 1
        entries.append(Entry(digest: digest, subject: subject, end: now + duration))
        return .new
    }

    private mutating func dropThoseOver(at now: Instant) {
        while first < entries.count, entries[first].end <= now {
            let entry = entries[first]
            digests.remove(entry.digest)
            let left = counts[entry.subject, default: 1] - 1
            counts[entry.subject] = left == 0 ? nil : left
            first += 1
        }
        // Moved rarely, so that it costs a constant for each proof.
        if first > 64, first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }
}
