// SPDX-License-Identifier: Apache-2.0

/// Finds the word that somebody probably meant to write.
package enum NearMiss {
    /// The most edits between a word and what was perhaps meant.
    private static let mostEdits = 2

    /// The words `; did you mean 'x'?`, or nothing when no candidate is near.
    package static func hint(for word: String, among candidates: [String]) -> String {
        hint(of: best(for: word, among: candidates))
    }

    /// The same words for what is known to be near.
    static func hint(of best: String?) -> String { best.map { "; did you mean '\($0)'?" } ?? "" }

    /// The nearest candidate within ``mostEdits``, the first one of several.
    ///
    /// An edit inserts, deletes or replaces a letter, or swaps two neighbours. A short word is not matched by
    /// replacing all of it.
    package static func best(for word: String, among candidates: [String]) -> String? {
        let letters = Array(word.utf8)
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let distance = distance(letters, Array(candidate.utf8))
            guard distance <= mostEdits, distance < max(letters.count, candidate.utf8.count) else { continue }
            if distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// The optimal string alignment distance; any number above ``mostEdits`` if it is larger than that.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard abs(left.count - right.count) <= mostEdits else { return mostEdits + 1 }
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let same = left[row - 1] == right[column - 1]
                var cost = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (same ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1]
                {
                    cost = min(cost, beforeLast[column - 2] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
