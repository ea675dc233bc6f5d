// SPDX-License-Identifier: Apache-2.0

/// Resolves names as the system does, without connecting.
package enum HostLookup {
    /// Resolves a host to IPv4 and IPv6 addresses in numeric form; blocks on the resolver unless `host` is
    /// numeric.
    ///
    /// - Returns: an empty array if the name is unknown or no name server answers.
    package static func addresses(of host: String) -> [String] {
        SocketAddress.resolve(host: host, port: 0).compactMap { found in
            var storage = found.storage
            return SocketAddress.text(of: &storage, length: found.length)?.host
        }
    }
}
