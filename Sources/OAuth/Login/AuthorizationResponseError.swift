// SPDX-License-Identifier: Apache-2.0

/// Why a redirect is not the answer to our request.
public enum AuthorizationResponseError: Error, Equatable, Sendable {
    /// Not at the redirect URI of the request: somebody else's.
    case otherAddress
    /// The answer has come before, or nobody waits for it any more.
    case alreadyAnswered
    /// Broken encoding, a parameter given twice, neither code nor error, or both.
    case malformed
    /// Without our state: forged, or of another login.
    case stateMismatch
    /// Another server answers (RFC 9207).
    case issuerMismatch(found: String, expected: String)
    /// The server promised to say who it is, and this answer does not (RFC 9207 §2.4).
    case issuerMissing

    /// Whether the login is over: whoever answered knows our state, and may have the code of another server.
    public var endsLogin: Bool {
        switch self {
        case .issuerMismatch, .issuerMissing: true
        case .malformed, .stateMismatch, .otherAddress, .alreadyAnswered: false
        }
    }

    /// What a person reads of it who sits at the command, and not at a page that a stranger may have opened.
    public var sentence: String {
        guard case .issuerMismatch(let found, let expected) = self else { return reason }
        return "it is of the issuer '\(found.shownIssuer)', and '\(expected)' was asked"
    }

    /// Why the redirect is refused, in fixed words: nothing of what was sent is among them.
    public var reason: String {
        switch self {
        case .otherAddress: "it is not at the redirect URI of this login"
        case .alreadyAnswered: "this login is over"
        case .malformed: "it is no answer of an authorization server"
        case .stateMismatch: "its state is not the one of this login"
        case .issuerMismatch: "it is of another issuer than the one that was asked"
        case .issuerMissing: "it does not say which issuer it is of"
        }
    }
}
