// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPExchange

/// What the fakes of both sides have in common.
protocol FakeExchange: MessageExchange where Incoming == FakeSource, Outgoing == FakeSink {
    /// Whether it carries no message any more.
    var isTunnel: Bool { get set }
}

extension FakeExchange {
    func stopReceiving() { incoming.stop() }

    func resumeReceiving() { incoming.forgetStop() }

    func beginTunnel() {
        isTunnel = true
        incoming.begin(isWhole: false)
        outgoing.begin(framesEnd: false)
    }
}
