// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// A session that another program kept, as far as it is of use here.
///
/// Its access token is not: formats differ in whether they tell its expiry, and a refresh brings a new one.
package struct ImportedSession: Sendable {
    package var refreshToken: Secret
    package var idToken: Secret?
    /// Scope tokens granted; none where the format does not tell.
    package var scope: [String] = []
    /// Whose client it is, where the format tells.
    package var clientID: String?
    /// Whose tokens they are, where the format tells.
    package var issuer: String?

    /// - Throws: ``ImportError`` if the token is missing, or has bytes that no refresh token has.
    init(refreshToken text: String?) throws(ImportError) {
        guard let text, !text.isEmpty else { throw .noRefreshToken }
        guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .malformed("a refresh token is one line of printable ASCII")
        }
        refreshToken = Secret(text)
    }

    /// Takes the id token if it looks like one (RFC 7519 §3): who reads it later judges it anew.
    mutating func take(idToken text: String?) {
        guard let text, text.split(separator: ".", omittingEmptySubsequences: false).count == 3,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { return }
        idToken = Secret(text)
    }

    /// Takes the scope as it is on the wire (RFC 6749 §3.3).
    mutating func take(scope text: String?) {
        scope = (text ?? "").split(separator: " ").map(String.init)
    }
}
