// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Synchronization

/// Lets one line of a kind into the log each second for each identity.
final class IdentityThrottle: Sendable {
    private let throttles = Mutex<[String: LineThrottle]>([:])

    /// Asks whether a line may be written.
    ///
    /// - Returns: how many were left out since the last one; nil if this one is left out too.
    func pass(for identity: String) -> Int? {
        throttles.withLock { throttles in
            let throttle = throttles[identity] ?? LineThrottle()
            throttles[identity] = throttle
            return throttle.pass()
        }
    }
}
