// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Synchronization

/// Lets one log line of a kind pass each second for each identity.
final class IdentityThrottle: Sendable {
    private let throttles = Mutex<[String: LineThrottle]>([:])

    /// Asks to write a line.
    ///
    /// - Returns: the number of lines left out since the last one; nil if this one must be left out too.
    func pass(for identity: String) -> Int? {
        throttles.withLock { throttles in
            let throttle = throttles[identity] ?? LineThrottle()
            throttles[identity] = throttle
            return throttle.pass()
        }
    }
}
