// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTPMessages

extension PeerAddress {
    /// Tells apart those who are held to a limit each: a user of this machine, a host elsewhere.
    ///
    /// Everybody in an IPv6 network of 64 bits is one, as each host has such a network to itself, and so is everybody who
    /// comes over loopback: any local program can choose among its addresses.
    package var party: [UInt8] {
        switch self {
        case .ip(let address) where IPAddress.isLoopback(host: address): Array("loopback".utf8)
        case .ip(let address): IPAddress.network(of: address) ?? Array(address.utf8)
        case .unix(let user, _): Array("unix:\(user)".utf8)
        case .unknown: []
        }
    }
}
