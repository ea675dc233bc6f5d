// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// A client that the development provider knows (RFC 6749 §2).
package struct DevelopmentClient: Sendable {
    /// `client_id`.
    package let id: String
    /// `client_secret`; nil makes it a public client.
    package let secret: Secret?
    /// The redirect URIs, compared exactly, except for the port of those on loopback (RFC 8252 §7.3).
    package let redirectURIs: [String]

    /// The redirect URIs of a client for which none are configured.
    package static let standardRedirectURIs = ["http://127.0.0.1/callback", "http://127.0.0.1/"]

    /// Describes a client.
    ///
    /// - Parameters:
    ///   - id: `client_id`.
    ///   - secret: nil for a public client.
    ///   - redirectURIs: the addresses for answers, and for redirects after a logout.
    package init(
        id: String, secret: Secret?,
        redirectURIs: [String] = standardRedirectURIs
    ) {
        self.id = id
        self.secret = secret
        self.redirectURIs = redirectURIs
    }

    /// Returns true if an answer may be redirected to `uri`.
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
