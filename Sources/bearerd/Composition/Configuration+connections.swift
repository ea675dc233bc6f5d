// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdProxy
import BearerdSystem

extension Configuration {
    /// The number of client connections: the configured one, or fewer if descriptors are short.
    ///
    /// - Parameters:
    ///   - free: the free descriptors.
    ///   - reserved: the descriptors for uses other than clients and upstreams.
    func connectionLimit(freeDescriptors free: Int, reserved: Int = 0) -> Int {
        ConnectionBudget.limit(
            of: limits.connections, freeDescriptors: free,
            upstreams: routes.count * limits.upstreamConnections,
            workers: workers ?? CurrentProcess.coreCount, reserved: reserved)
    }
}
