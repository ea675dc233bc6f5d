// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// A session that another program kept, as far as it is of use here.
///
/// Its access token is not: formats differ in whether they tell its expiry, and a refresh brings a new one.
public struct ImportedSession: Sendable {
    /// What the session goes on with.
    public var refreshToken: Secret
    /// Who the person is, where the format tells.
    public var idToken: Secret?
    /// Scope tokens granted; none where the format does not tell.
    public var scope: [String] = []
    /// Whose client it is, where the format tells.
    public var clientID: String?
    /// Whose tokens they are, where the format tells.
    public var issuer: String?
    /// The person, where the format tells (GTMOAuth2's `userID`).
    public var userID: String?
    /// The person's address, where the format tells (`email`, `userEmail`).
    public var userEmail: String?
    /// Whether the provider has verified that address (`isVerified`, `userEmailIsVerified`).
    public var isEmailVerified = false

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

    /// Takes what is told of the person; an address counts as verified where a word says so.
    mutating func take(userID: String?, email: String?, isVerified: String?) {
        self.userID = userID
        userEmail = email
        isEmailVerified = ["1", "true", "t", "yes", "y"].contains((isVerified ?? "").lowercased())
    }

    /// Takes the scope as it is on the wire (RFC 6749 §3.3).
    mutating func take(scope text: String?) {
        scope = (text ?? "").split(separator: " ").map(String.init)
    }
}
