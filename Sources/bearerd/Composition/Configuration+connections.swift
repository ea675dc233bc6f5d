// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdProxy
import BearerdSystem

extension Configuration {
    /// How many connections of clients there may be: as many as are configured, or as descriptors allow.
    ///
    /// - Parameters:
    ///   - free: how many descriptors there are.
    ///   - reserved: what others than clients and upstreams may take.
    func connectionLimit(freeDescriptors free: Int, reserved: Int = 0) -> Int {
        ConnectionBudget.limit(
            of: limits.connections, freeDescriptors: free,
            upstreams: routes.count * limits.upstreamConnections,
            workers: workers ?? CurrentProcess.coreCount, reserved: reserved)
    }
}
