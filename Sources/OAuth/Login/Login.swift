// SPDX-License-Identifier: Apache-2.0

/// The result of a login, without its tokens.
public struct Login: Equatable, Sendable {
    /// True if the login brought a refresh token; without one the session ends with its access token.
    public let hasRefreshToken: Bool
    /// True if the login brought an ID token.
    public let hasIDToken: Bool
    /// `preferred_username`, `email` or `sub` of the ID token; nil without one.
    public let personName: String?

    package init(hasRefreshToken: Bool, hasIDToken: Bool, personName: String? = nil) {
        self.hasRefreshToken = hasRefreshToken
        self.hasIDToken = hasIDToken
        self.personName = personName
    }
}

/// Why a login failed; the present session stays.
public enum LoginError: ExplainedError, Equatable, Sendable {
    /// The person or the server refused.
    case refused(AuthorizationRefusal)
    /// The person did not decide in time.
    case expired
    /// The task that logged in was cancelled before there were tokens.
    case cancelled
    /// There are no tokens, or they do not pass the checks.
    case failed(TokenFailure)
    /// The tokens could not be stored.
    case unstored(StoreError)
}

extension LoginError {
    /// True if no server has judged the code: it was not sent, or the answer was about something else.
    var leavesCodeUnused: Bool {
        guard case .failed(let failure) = self, failure.kind != .final, failure.kind != .doubtful else {
            return false
        }
        return switch failure.reason {
        // An answer other than a success, of a gateway or about the client.
        case .refused, .status: true
        default: failure.isBeforeSending
        }
    }
}

extension TokenFailure {
    /// True if the request for which it stands did not reach the endpoint.
    package var isBeforeSending: Bool {
        switch reason {
        case .unreachable, .certificate, .noMetadata, .badIssuer, .noEndpoint, .insecureEndpoint,
            .notRegistered, .noKeys, .noCredential, .unreadableCredential, .badCredential, .badParameter,
            .noProof:
            true
        default: false
        }
    }
}

extension LoginError {
    /// The reason and the remedy, for a person; with the refusal's code and the server's own words.
    public var sentence: String {
        switch self {
        case .refused(let refusal): refusal.sentence
        case .expired: "nobody logged in in time; try again"
        case .cancelled: "the login was given up"
        case .failed(let failure): "no login: \(failure.sentence)"
        case .unstored(let error): "the login cannot be stored: \(error.sentence)"
        }
    }
}

extension AuthorizationRefusal {
    /// The refusal with the server's own words, for a person.
    public var sentence: String {
        let code = code?.rawValue ?? "an error that cannot be shown"
        let words =
            isTransient ? "the provider cannot log anybody in just now; try again" : "the login was refused"
        return "\(words): \(code)\(description.map { ": \($0)" } ?? "")"
    }
}
