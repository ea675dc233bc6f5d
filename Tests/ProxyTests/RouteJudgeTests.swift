// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdObservability
import Synchronization
import Testing

@testable import BearerdProxy

/// Keeps what is written to it.
private final class Lines: LineSink {
    private let bytes = Mutex<[UInt8]>([])

    func write(_ lines: [UInt8]) { bytes.withLock { $0 += lines } }

    func count(_ message: String) -> Int {
        bytes.withLock { String(decoding: $0, as: UTF8.self) }.ranges(of: "\"\(message)\"").count
    }
}

/// When a route fails, by the answers of the last minute.
struct `A route is judged` {
    private let lines = Lines()

    private func makeJudge(onFailing: (@Sendable () -> Void)? = nil) -> RouteJudge {
        RouteJudge(log: Log(level: .info, format: .json, sink: lines), onFailing: onFailing)
    }

    /// Counts answers as the recorder of a worker does.
    private func answer(
        _ judge: RouteJudge, _ share: RecentAnswers, good: Int = 0, bad: Int = 0, at second: UInt32
    ) {
        for _ in 0..<good { share.count(failed: false, at: second) }
        for _ in 0..<bad {
            share.count(failed: true, at: second)
            judge.failed(at: second)
        }
    }

    @Test(arguments: [
        (0, 1, false), (0, 2, false), (0, 3, true), (1, 3, false), (1, 8, false), (0, 9, true),
        (6, 4, false), (5, 5, true), (100, 99, false), (100, 100, true),
    ])
    func `to fail at half of ten, and of fewer at three and all of them`(good: Int, bad: Int, fails: Bool) {
        let judge = makeJudge()
        let share = judge.makeShare()
        answer(judge, share, good: good, bad: bad, at: 1000)
        #expect(judge.judge(at: 1000) == fails)
        #expect(lines.count("the route fails") == (fails ? 1 : 0))
    }

    @Test func `to fail no more below a quarter, and says each once`() {
        let judge = makeJudge()
        let share = judge.makeShare()
        answer(judge, share, bad: 10, at: 1000)
        #expect(judge.judge(at: 1000) && lines.count("the route fails") == 1)
        answer(judge, share, good: 30, at: 1010)
        #expect(judge.judge(at: 1010), "10 of 40 are a quarter")
        answer(judge, share, good: 1, at: 1010)
        #expect(!judge.judge(at: 1010))
        #expect(!judge.judge(at: 1011))
        #expect(lines.count("the route fails") == 1 && lines.count("the route fails no more") == 1)
        answer(judge, share, bad: 20, at: 1020)
        #expect(!judge.judge(at: 1020), "30 of 61")
        answer(judge, share, bad: 1, at: 1020)
        #expect(judge.judge(at: 1020), "31 of 62")
    }

    @Test func `by a minute that slides, and by none when that is empty`() {
        let judge = makeJudge()
        let share = judge.makeShare()
        answer(judge, share, good: 1000, at: 1000)
        answer(judge, share, bad: 10, at: 1059)
        #expect(!judge.judge(at: 1059))
        #expect(judge.judge(at: 1060), "the good ones are more than a minute ago")
        #expect(judge.judge(at: 1118))
        #expect(!judge.judge(at: 1119))
        #expect(lines.count("the route fails no more") == 1)
        #expect(lines.count("no answer in the last minute") == 1)
        #expect(share.count(at: 1_000_000) == RecentAnswers.Count())
    }

    @Test func `across workers, by the one whose answer makes it fail`() {
        let begun = Begun()
        let judge = makeJudge { begun.count.withLock { $0 += 1 } }
        let shares = (0..<5).map { _ in judge.makeShare() }
        for share in shares { answer(judge, share, good: 1, bad: 1, at: 50) }
        #expect(begun.count.withLock { $0 } == 1 && judge.judge(at: 50))
    }

    private final class Begun: Sendable { let count = Mutex(0) }

    @Test func `but no longer once a reload has taken it away`() {
        let judge = makeJudge()
        let share = judge.makeShare()
        answer(judge, share, bad: 3, at: 7)
        judge.retire()
        #expect(lines.count("the route fails no more") == 1)
        answer(judge, share, bad: 30, at: 8)
        #expect(!judge.judge(at: 8) && lines.count("the route fails") == 1)
    }

    @Test func `with the state in words`() {
        let judge = makeJudge()
        let share = judge.makeShare()
        #expect(judge.health(nil, at: 9) == .unknown)
        share.hear()
        #expect(judge.health(nil, at: 9) == .answers)
        #expect(judge.health("refused", at: 9) == .falters("refused"))
        judge.note(AnswerFailure(status: 502, cause: "the connection was refused"))
        answer(judge, share, good: 1, bad: 9, at: 9)
        #expect(
            judge.health(nil, at: 9)
                == .fails(
                    "9 of 10 answers in the last minute failed, lately with 502: the connection was refused"
                ))
    }

    @Test func `by counts that no other second disturbs`() {
        var generator = Seeded(state: 7)
        let share = RecentAnswers()
        var known: [UInt32: RecentAnswers.Count] = [:]
        var second: UInt32 = 4_294_967_200
        for _ in 0..<2000 {
            second &+= UInt32(generator.next() % 3)
            let failed = generator.next() % 3 == 0
            share.count(failed: failed, at: second)
            known[second, default: .init()].answers += 1
            if failed { known[second, default: .init()].failures += 1 }
            var expected = RecentAnswers.Count()
            for age in 0..<RecentAnswers.window {
                expected.answers += known[second &- age]?.answers ?? 0
                expected.failures += known[second &- age]?.failures ?? 0
            }
            #expect(share.count(at: second) == expected)
        }
    }
}

/// A small generator that repeats itself (splitmix64).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
