// SPDX-License-Identifier: Apache-2.0

import BearerdProxy
import BearerdSystem

/// The daemon's need for descriptors.
extension Daemon {
    /// Fails if there are too few descriptors to serve a request, because a daemon that serves nobody is
    /// worse than none.
    ///
    /// Called before the first client is accepted, so that waiting clients do not count.
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
