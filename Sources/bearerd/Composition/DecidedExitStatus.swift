// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The exit status of a process whose end is decided on a loop.
final class DecidedExitStatus: Sendable {
    private let decided = Mutex(ExitStatus.failure)

    var status: ExitStatus { decided.withLock { $0 } }

    func set(_ status: ExitStatus) { decided.withLock { $0 = status } }
}
