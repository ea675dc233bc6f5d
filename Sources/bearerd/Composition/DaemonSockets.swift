// SPDX-License-Identifier: Apache-2.0

import Configuration
import HTTPMessages
import System

/// Every socket that a daemon listens on, bound before it gives up the right to bind others.
struct DaemonSockets: Sendable {
    /// How many workers there are.
    let workerCount: Int
    /// The data listeners, in the configuration's order.
    let data: [BoundListener]
    let admin: BoundListener?
    let developmentProvider: BoundListener?
    let developmentAPI: BoundListener?

    /// How many of them are the small services'.
    var serviceCount: Int { [admin, developmentProvider, developmentAPI].compactMap(\.self).count }

    /// Binds them; nobody is served yet.
    init(_ configuration: Configuration) throws(CommandFailure) {
        let count = configuration.workers ?? CurrentProcess.coreCount
        workerCount = count
        var data: [BoundListener] = []
        for address in configuration.listen {
            data.append(try BoundListener(address, workers: count, isForAll: true))
        }
        self.data = data
        admin = try BoundListener(configuration.admin?.listen)
        developmentProvider = try BoundListener(configuration.development.provider)
        developmentAPI = try BoundListener(configuration.development.api)
    }
}

extension BoundListener {
    /// Binds an address for one loop, if there is one.
    fileprivate init?(_ address: ListenAddress?) throws(CommandFailure) {
        guard let address else { return nil }
        self = try BoundListener(address, workers: 1)
    }
}
