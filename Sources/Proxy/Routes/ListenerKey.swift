// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Identifies a listener of a configuration, so that the next configuration can find it again.
package struct ListenerKey: Hashable, Sendable {
    /// The address as configured.
    package let address: ListenAddress
    /// The number of earlier listeners with the same address; `127.0.0.1:0` may occur twice, for two ports.
    package let ordinal: Int

    package init(_ address: ListenAddress, ordinal: Int = 0) {
        self.address = address
        self.ordinal = ordinal
    }

    /// The keys of a configuration's listeners, in their order.
    package static func keys(of addresses: [ListenAddress]) -> [ListenerKey] {
        addresses.indices.map { index in
            ListenerKey(
                addresses[index], ordinal: addresses[..<index].count { $0 == addresses[index] })
        }
    }
}
