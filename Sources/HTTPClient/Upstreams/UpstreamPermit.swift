// SPDX-License-Identifier: Apache-2.0

/// The right to one connection under an ``UpstreamLimit``, released by its deinit.
package final class UpstreamPermit: Sendable {
    private let limit: UpstreamLimit

    init(_ limit: UpstreamLimit) {
        self.limit = limit
    }

    deinit { limit.release() }
}
