// SPDX-License-Identifier: Apache-2.0

/// One of the connections that an ``UpstreamLimit`` allows; given back when the object goes.
package final class UpstreamPermit: Sendable {
    private let limit: UpstreamLimit

    init(_ limit: UpstreamLimit) {
        self.limit = limit
    }

    deinit { limit.release() }
}
