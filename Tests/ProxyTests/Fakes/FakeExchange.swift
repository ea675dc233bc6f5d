// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPExchange

/// The common part of the fakes of both sides.
protocol FakeExchange: MessageExchange where Incoming == FakeSource, Outgoing == FakeSink {
    /// True once the exchange is a tunnel.
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
