// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import HTTPMessages

extension HTTPURL {
    /// The URL as an error names it: without its query, which may hold more than is to be shown, and without a path of a
    /// provider's that repeats a secret.
    package var place: String {
        let hasPath = socketPath == nil && !SecretListing.isRepeated(in: path)
        let whole = hasPath ? origin + path : origin
        return whole.utf8.count <= 300 ? whole : whole.prefix(300) + "..."
    }

    /// What is connected to, as an error names it: always with the port; a socket's path.
    var hostAndPort: String {
        if let socketPath { return socketPath }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
