// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// When a refresh token is sent once more; whoever drives it carries steps out and tells what came of them.
struct `A refresh that is not answered` {
    private let start = ContinuousClock.now

    private func rule(isInDoubt: Bool = false, waiting limit: Duration = .seconds(10)) -> UnansweredRefresh {
        UnansweredRefresh(isInDoubt: isInDoubt, waiting: limit, at: start)
    }

    private func moment(_ seconds: Int) -> Instant { start + .seconds(seconds) }

    /// One whose token was sent at the start, and whose wait is over.
    private func silent() -> UnansweredRefresh {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        #expect(rule.next(at: start) == .wait(until: moment(10)) && !rule.isSilent(at: start))
        #expect(rule.next(at: moment(10)) == .probe && rule.isSilent(at: moment(10)))
        #expect(rule.next(at: moment(10)) == .wait(until: nil), "one question at a time")
        return rule
    }

    @Test func `is not sent again while the provider answers nothing, however long`() {
        var (rule, now, asked) = (silent(), moment(20), 0)
        while now < moment(600) {
            rule.probed(isAnswered: false, at: now)
            guard case .wait(let next?) = rule.next(at: now) else {
                Issue.record("it does not wait")
                return
            }
            #expect(next - now <= .seconds(30) && next > now)
            now = next
            #expect(rule.next(at: now) == .probe)
            asked += 1
            now += .seconds(10)
        }
        #expect(10...40 ~= asked && rule.isInDoubt == false)
    }

    @Test func `is waited for from when it goes out, however long a credential for it is read`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        #expect(rule.next(at: moment(60)) == .wait(until: nil) && !rule.isSilent(at: moment(60)))
        rule.begun(at: moment(60))
        #expect(rule.next(at: moment(60)) == .wait(until: moment(70)))

        rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(17))
        #expect(rule.next(at: moment(17)) == .send)
        #expect(rule.isSilent(at: moment(60)), "the first one is as silent as before")
        rule.unsent(isNewest: true, at: moment(60))
        #expect(rule.isSilent(at: moment(60)))
    }

    @Test func `is waited for from when its connection stands, however long that takes`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        rule.connected(at: moment(9))
        #expect(rule.next(at: moment(9)) == .wait(until: moment(19)) && !rule.isSilent(at: moment(18)))
        #expect(rule.next(at: moment(19)) == .probe && rule.isSilent(at: moment(19)))
    }

    @Test func `is sent again when the provider has answered twice, five seconds apart`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(11)) == .wait(until: moment(16)))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(17))
        #expect(rule.next(at: moment(17)) == .send)
        rule.begun(at: moment(17))
        #expect(rule.next(at: moment(18)) == .wait(until: moment(27)))
        #expect(rule.isSilent(at: moment(27)))
        #expect(rule.next(at: moment(599)) == .wait(until: nil), "and no third time while they live")
    }

    @Test func `is not sent again by a process that has stood still before it looks once more`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(400)) == .probe)
    }

    @Test func `begins anew where the provider hangs again`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: false, at: moment(26))
        guard case .wait(let next?) = rule.next(at: moment(26)) else {
            Issue.record("it does not wait")
            return
        }
        #expect(rule.next(at: next) == .probe)
        rule.probed(isAnswered: true, at: moment(27))
        #expect(rule.next(at: moment(27)) == .wait(until: moment(32)))
    }

    @Test func `whose connection dies is sent again as soon as the provider answers`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        rule.lost(at: moment(1))
        #expect(rule.isInDoubt && !rule.isSilent(at: moment(20)))
        #expect(rule.next(at: moment(1)) == .probe)
        rule.probed(isAnswered: true, at: moment(2))
        #expect(rule.next(at: moment(2)) == .send)
        rule.begun(at: moment(2))
        rule.lost(at: moment(3))
        #expect(rule.next(at: moment(3)) == .end && rule.isInDoubt, "a back-off later, and not at once again")
    }

    @Test func `whose connection dies while the provider answers nothing is given up`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        rule.lost(at: moment(1))
        #expect(rule.next(at: moment(1)) == .probe)
        rule.probed(isAnswered: false, at: moment(11))
        #expect(rule.next(at: moment(11)) == .end && rule.isInDoubt)
    }

    @Test func `whose connection dies after the provider has answered is sent at once`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        rule.lost(at: moment(12))
        #expect(rule.next(at: moment(12)) == .send)
        rule.begun(at: moment(12))
    }

    @Test func `whose connection dies during a question waits for its end`() {
        var rule = silent()
        rule.lost(at: moment(12))
        #expect(rule.next(at: moment(12)) == .wait(until: nil))
        rule.probed(isAnswered: true, at: moment(13))
        #expect(rule.next(at: moment(13)) == .send)
        rule.begun(at: moment(13))
    }

    @Test func `of somebody else before is not sent before the provider has answered`() {
        var rule = rule(isInDoubt: true)
        #expect(rule.next(at: start) == .probe && !rule.isSilent(at: moment(20)))
        rule.probed(isAnswered: true, at: moment(1))
        #expect(rule.next(at: moment(1)) == .wait(until: moment(6)), "the other one's request may still live")
        #expect(rule.next(at: moment(6)) == .probe)
        rule.probed(isAnswered: true, at: moment(6))
        #expect(rule.next(at: moment(6)) == .send)
        rule.begun(at: moment(6))
        rule.refused()
        #expect(rule.next(at: moment(7)) == .end && !rule.isInDoubt)

        rule = UnansweredRefresh(isInDoubt: true, isOurs: true, waiting: .seconds(10), at: start)
        #expect(rule.next(at: start) == .probe)
        rule.probed(isAnswered: true, at: moment(1))
        #expect(rule.next(at: moment(1)) == .send, "its connection is known to be dead")
        rule.begun(at: moment(1))

        rule = self.rule(isInDoubt: true)
        #expect(rule.next(at: start) == .probe)
        rule.probed(isAnswered: false, at: moment(10))
        #expect(rule.next(at: moment(10)) == .end && rule.isInDoubt)
    }

    @Test func `that was left for others waits for two answers though its own connection has died`() {
        var rule = silent()
        rule.takenUp(at: moment(11))
        rule.probed(isAnswered: true, at: moment(12))
        rule.lost(at: moment(13))
        let step = rule.next(at: moment(13))
        #expect(step == .wait(until: moment(17)), "the other one's request may still live")
        #expect(rule.next(at: moment(17)) == .probe)
        rule.probed(isAnswered: true, at: moment(17))
        #expect(rule.next(at: moment(17)) == .send && rule.isOursAlone)
        rule.begun(at: moment(17))
    }

    @Test func `that is refused is over, unless another one may still bring a token`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        rule.refused()
        #expect(rule.next(at: moment(1)) == .end && !rule.isInDoubt)

        rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(16))
        #expect(rule.next(at: moment(16)) == .send)
        rule.begun(at: moment(16))
        rule.refused()
        #expect(rule.next(at: moment(17)) == .wait(until: moment(26)) && rule.isInDoubt)
        rule.lost(at: moment(600))
        #expect(rule.next(at: moment(600)) == .end)
    }

    @Test func `that was not sent leaves no doubt, but an earlier one stays`() {
        var rule = rule()
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        rule.unsent(isNewest: true, at: moment(1))
        #expect(rule.next(at: moment(1)) == .end && !rule.isInDoubt)

        rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(16))
        #expect(rule.next(at: moment(16)) == .send)
        rule.begun(at: moment(16))
        rule.unsent(isNewest: true, at: moment(17))
        guard case .wait(let next?) = rule.next(at: moment(17)) else {
            Issue.record("it does not wait")
            return
        }
        #expect(rule.next(at: next) == .probe)
    }

    @Test
    func `is waited for as long as any though an older request, which it has followed, is withheld then`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(16))
        #expect(rule.next(at: moment(16)) == .send)
        rule.begun(at: moment(16))
        rule.unsent(isNewest: false, at: moment(17))
        #expect(rule.next(at: moment(17)) == .wait(until: moment(26)))
        #expect(rule.next(at: moment(26)) == .probe)
    }

    @Test func `is waited for as long as any when it goes out anew, whatever was asked before is answered`() {
        var rule = silent()
        rule.begun(at: moment(12))
        rule.probed(isAnswered: true, at: moment(12))
        #expect(rule.next(at: moment(12)) == .wait(until: moment(22)), "the question was asked before")
        #expect(rule.next(at: moment(22)) == .probe)
        rule.probed(isAnswered: true, at: moment(22))
        #expect(rule.next(at: moment(22)) == .wait(until: moment(27)))
    }

    @Test func `is not asked about while it is being prepared, though an earlier one is withheld`() {
        var rule = silent()
        rule.probed(isAnswered: true, at: moment(11))
        #expect(rule.next(at: moment(16)) == .probe)
        rule.probed(isAnswered: true, at: moment(16))
        #expect(rule.next(at: moment(16)) == .send && rule.isPreparing)
        rule.unsent(isNewest: false, at: moment(17))
        #expect(rule.next(at: moment(60)) == .wait(until: nil) && !rule.isSilent(at: moment(60)))
        rule.begun(at: moment(60))
        #expect(rule.next(at: moment(60)) == .wait(until: moment(70)) && !rule.isPreparing)
    }

    @Test func `is neither sent nor asked about again by who is to stop`() {
        var rule = rule()
        rule.stop()
        #expect(rule.next(at: start) == .send, "it was to be sent before")
        rule.begun(at: start)
        rule.stop()
        #expect(rule.next(at: moment(11)) == .wait(until: nil) && rule.isSilent(at: moment(11)))
        rule.lost(at: moment(12))
        #expect(rule.next(at: moment(12)) == .end && rule.isInDoubt)

        rule = self.rule(isInDoubt: true)
        rule.stop()
        #expect(rule.next(at: start) == .end)
    }

    @Test func `is waited for as long as it takes where there is no limit`() {
        var rule = rule(waiting: .zero)
        #expect(rule.next(at: start) == .send)
        rule.begun(at: start)
        #expect(rule.next(at: moment(3600)) == .wait(until: nil))
    }
}
