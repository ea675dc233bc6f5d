// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTPMessages

extension PeerAddress {
    /// The unit to which a per-client limit applies: a user of this machine, or a remote host.
    ///
    /// An IPv6 network of 64 bits counts as one, because each host has such a network to itself. So does all
    /// of loopback, because any local program can choose among its addresses.
    package var party: [UInt8] {
        switch self {
        case .ip(let address) where IPAddress.isLoopback(host: address): Array("loopback".utf8)
        case .ip(let address): IPAddress.network(of: address) ?? Array(address.utf8)
        case .unix(let user, _): Array("unix:\(user)".utf8)
        case .unknown: []
        }
    }
}
