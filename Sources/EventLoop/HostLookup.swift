// SPDX-License-Identifier: Apache-2.0

/// Looks names up as the system does, for those who want to know the answer and not a connection.
package enum HostLookup {
    /// The addresses of a host, IPv4 and IPv6, in numeric form; blocks on the resolver unless `host` is numeric itself.
    ///
    /// - Returns: nothing where the name is unknown, or nobody knows.
    package static func addresses(of host: String) -> [String] {
        SocketAddress.resolve(host: host, port: 0).compactMap { found in
            var storage = found.storage
            return SocketAddress.text(of: &storage, length: found.length)?.host
        }
    }
}
