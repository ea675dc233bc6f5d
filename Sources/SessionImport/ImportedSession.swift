// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// The usable part of a session that another program kept.
///
/// The access token is left out: not every format tells its expiry, and a refresh brings a new one.
public struct ImportedSession: Sendable {
    /// The refresh token.
    public var refreshToken: Secret
    /// The person's id token, if the format has it.
    public var idToken: Secret?
    /// The granted scope tokens; none if the format does not tell.
    public var scope: [String] = []
    /// The client that the tokens belong to, if the format tells.
    public var clientID: String?
    /// The issuer of the tokens, if the format tells.
    public var issuer: String?
    /// The person, if the format tells (GTMOAuth2's `userID`).
    public var userID: String?
    /// The person's address, if the format tells (`email`, `userEmail`).
    public var userEmail: String?
    /// True if the provider has verified that address (`isVerified`, `userEmailIsVerified`).
    public var isEmailVerified = false

    /// - Throws: `ImportError` if the token is missing, or has bytes that no refresh token has.
    init(refreshToken text: String?) throws(ImportError) {
        guard let text, !text.isEmpty else { throw .noRefreshToken }
        guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw .malformed("a refresh token is one line of printable ASCII") }
        refreshToken = Secret(text)
    }

    /// Takes the id token if it has the form of one (RFC 7519 §3); it is validated later.
    mutating func take(idToken text: String?) {
        guard let text, text.split(separator: ".", omittingEmptySubsequences: false).count == 3,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { return }
        idToken = Secret(text)
    }

    /// Takes the person's data; the address counts as verified if the text says so.
    mutating func take(userID: String?, email: String?, isVerified: String?) {
        self.userID = userID
        userEmail = email
        isEmailVerified = ["1", "true", "t", "yes", "y"].contains((isVerified ?? "").lowercased())
    }

    /// Takes the scope in its wire form (RFC 6749 §3.3).
    mutating func take(scope text: String?) { scope = (text ?? "").split(separator: " ").map(String.init) }
}
