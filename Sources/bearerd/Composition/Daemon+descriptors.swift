// SPDX-License-Identifier: Apache-2.0

import BearerdProxy
import BearerdSystem

/// What the daemon needs of the system to serve anybody.
extension Daemon {
    /// A daemon that is alive and serves nobody would be worse than none.
    ///
    /// Before the first client is accepted: those who wait for a start must not be what prevents it.
    func requireDescriptors() throws(CommandFailure) {
        let missing =
            ConnectionBudget.fewestDescriptors(workers: workers.count) - CurrentProcess.freeDescriptorCount
        guard missing > 0 else { return }
        let limit = CurrentProcess.descriptorLimit
        throw CommandFailure(
            .systemRefuses,
            "\(limit) descriptors are too few to serve a request (RLIMIT_NOFILE): \(limit + missing) are needed; raise the hard limit (systemd: LimitNOFILE=)"
        )
    }
}
