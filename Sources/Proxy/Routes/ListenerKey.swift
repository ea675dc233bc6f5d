// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Which listener of a configuration: what makes it the same one in the next.
package struct ListenerKey: Hashable, Sendable {
    /// As the configuration has it.
    package let address: ListenAddress
    /// How many of the same address precede it: `127.0.0.1:0` may stand there twice, for two ports.
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
