// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One worker's answers of the last minute on one route: how many there were, and how many of them failed.
///
/// Its worker alone writes, so counting takes plain loads and stores of a cache line that no other core writes. Any
/// thread may read, a worker that stands still included.
final class RecentAnswers: Sendable {
    /// Answers, and those of them that failed.
    struct Count: Equatable {
        var answers = 0
        var failures = 0
    }

    /// The seconds that count, the present one among them.
    static let window: UInt32 = 60

    /// One second each, by its number modulo their count: see ``Second``.
    private let seconds: InlineArray<64, Atomic<UInt64>>
    private let heard = Atomic(false)

    /// The word for one second: 24 bits of its number, 20 of answers, 20 of failures.
    private struct Second {
        static let most: UInt64 = 1 << 20 - 1
        static let numbers: UInt64 = 1 << 24 - 1

        var number: UInt64
        var answers: UInt64 = 0
        var failures: UInt64 = 0

        init(_ second: UInt32) { number = UInt64(second) & Self.numbers }

        init(word: UInt64) {
            number = word >> 40
            answers = word >> 20 & Self.most
            failures = word & Self.most
        }

        var word: UInt64 { number << 40 | answers << 20 | failures }

        /// The seconds from this one to a later one.
        func age(at now: UInt32) -> UInt64 { (UInt64(now) &- number) & Self.numbers }
    }

    init() { seconds = InlineArray { _ in Atomic(0) } }

    /// Counts one answer; of more than a million in a second the rest is left out.
    @inline(__always)
    func count(failed: Bool, at now: UInt32) {
        let index = Int(now & 63)
        var second = Second(word: seconds[index].load(ordering: .relaxed))
        if second.age(at: now) != 0 { second = Second(now) }
        guard second.answers < Second.most else { return }
        second.answers &+= 1
        if failed { second.failures &+= 1 }
        seconds[index].store(second.word, ordering: .relaxed)
    }

    /// The answers of the minute that ends with the second `now`.
    func count(at now: UInt32) -> Count {
        var count = Count()
        for index in seconds.indices {
            let second = Second(word: seconds[index].load(ordering: .relaxed))
            guard second.answers > 0, second.age(at: now) < Self.window else { continue }
            count.answers += Int(second.answers)
            count.failures += Int(second.failures)
        }
        return count
    }

    /// True once the upstream has answered a request of this worker, with whatever status.
    var hasHeard: Bool { heard.load(ordering: .relaxed) }

    /// Takes note that the upstream answers.
    @inline(__always)
    func hear() { heard.store(true, ordering: .relaxed) }
}
