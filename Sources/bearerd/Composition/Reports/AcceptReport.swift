// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdObservability
import Synchronization

/// Logs that an address accepts no connections, once for each address, however many loops serve it.
final class AcceptReport: Sendable {
    private let log: Log
    /// The number of failing listeners of each address.
    private let failing = Mutex<[String: Int]>([:])

    init(_ log: Log) {
        self.log = log
    }

    func heard(_ news: Listener.News, at address: String) {
        let (before, after) = failing.withLock { failing in
            let before = failing[address] ?? 0
            let after = if case .failing = news { before + 1 } else { max(0, before - 1) }
            failing[address] = after == 0 ? nil : after
            return (before, after)
        }
        switch news {
        case .failing(let reason) where before == 0:
            log.warning(
                "connections cannot be accepted", [.address: .string(address), .reason: .string(reason)])
        case .working where after == 0:
            log.notice("connections are accepted again", [.address: .string(address)])
        case .failing, .working, .closed:
            break
        }
    }
}
