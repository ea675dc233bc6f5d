// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// A client that the development provider knows (RFC 6749 §2).
package struct DevelopmentClient: Sendable {
    /// `client_id`.
    package let id: String
    /// `client_secret`; nil makes it a public client.
    package let secret: Secret?
    /// Compared as a whole; of those on loopback the port does not count (RFC 8252 §7.3).
    package let redirectURIs: [String]

    /// Those of a client that says nothing of its own.
    package static let standardRedirectURIs = ["http://127.0.0.1/callback", "http://127.0.0.1/"]

    /// Describes a client.
    ///
    /// - Parameters:
    ///   - id: `client_id`.
    ///   - secret: nil for a public client.
    ///   - redirectURIs: where answers may go, after a logout too.
    package init(
        id: String, secret: Secret?,
        redirectURIs: [String] = standardRedirectURIs
    ) {
        self.id = id
        self.secret = secret
        self.redirectURIs = redirectURIs
    }

    /// Whether an answer may be sent there.
    func mayRedirect(to uri: String) -> Bool {
        redirectURIs.contains { registered in
            if registered == uri { return true }
            guard let wanted = LoopbackRedirect(uri), let known = LoopbackRedirect(registered) else {
                return false
            }
            return wanted == known
        }
    }
}
