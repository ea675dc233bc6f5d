// SPDX-License-Identifier: Apache-2.0

/// Why a redirect is not the response to our request.
public enum AuthorizationResponseError: ExplainedError, Equatable, Sendable {
    /// It is not at the redirect URI of the request.
    case otherAddress
    /// The response has come before, or the flow was cancelled.
    case alreadyUsed
    /// The encoding is broken, a parameter occurs twice, or there is neither a code nor an error, or both.
    case malformed
    /// The state is not ours: the response is forged, or of another login.
    case stateMismatch
    /// It is the response of another server (RFC 9207).
    case issuerMismatch(found: String, expected: String)
    /// The server announces `iss`, and the response has none (RFC 9207 §2.4).
    case issuerMissing

    /// True if the login is over: the sender knows our state, and may have the code of another server.
    public var endsLogin: Bool {
        switch self {
        case .issuerMismatch, .issuerMissing: true
        case .malformed, .stateMismatch, .otherAddress, .alreadyUsed: false
        }
    }

    /// The reason, for a person; it names the issuers, which ``reason`` keeps from strangers.
    public var sentence: String { "this URL is no answer to the login: \(clause)" }

    /// The ``sentence`` without its subject.
    package var clause: String {
        guard case .issuerMismatch(let found, let expected) = self else { return reason }
        return "it is of the issuer '\(found.shownIssuer)', and '\(expected)' was asked"
    }

    /// The reason in fixed words, which repeat nothing of the response.
    public var reason: String {
        switch self {
        case .otherAddress: "it is not at the redirect URI of this login"
        case .alreadyUsed: "this login is over"
        case .malformed: "it is no answer of an authorization server"
        case .stateMismatch: "its state is not the one of this login"
        case .issuerMismatch: "it is of another issuer than the one that was asked"
        case .issuerMissing: "it does not say which issuer it is of"
        }
    }
}
