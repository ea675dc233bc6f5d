// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import HTTPMessages

extension HTTPURL {
    /// The URL for error messages: without its query, without a path that repeats a secret, at most 303 bytes long.
    package var place: String {
        let hasPath = socketPath == nil && !SecretListing.isRepeated(in: path)
        let whole = hasPath ? origin + path : origin
        return whole.utf8.count <= 300 ? whole : whole.prefix(300) + "..."
    }

    /// Host and port, or the path of a Unix socket, for error messages.
    var hostAndPort: String {
        if let socketPath { return socketPath }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
