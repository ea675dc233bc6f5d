// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// An `error` of the token endpoint (RFC 6749 §5.2, an open set): at most 40 lower-case letters and underscores.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The code as the server spells it.
    public let rawValue: String

    /// - Returns: nil for a text that is anything else. RFC 6749 allows more, but a code is shown and logged, and
    ///   nothing that could be a token, or a part of one, must get through.
    public init?(rawValue: String) {
        let bytes = rawValue.utf8
        let isPlain = bytes.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_")
        }
        guard isPlain, 1...40 ~= bytes.count else { return nil }
        // A code of the RFCs stays one, whatever a caller has for a token.
        guard Self.known.contains(rawValue) || !SecretListing.isRepeated(in: rawValue) else { return nil }
        self.rawValue = rawValue
    }

    private init(known: StaticString) {
        rawValue = known.description
    }

    /// RFC 6749 §5.2.
    public static let invalidRequest = ErrorCode(known: "invalid_request")
    /// RFC 6749 §5.2.
    public static let invalidClient = ErrorCode(known: "invalid_client")
    /// RFC 6749 §5.2: the refresh token, code or assertion is refused.
    public static let invalidGrant = ErrorCode(known: "invalid_grant")
    /// RFC 6749 §5.2.
    public static let unauthorizedClient = ErrorCode(known: "unauthorized_client")
    /// RFC 6749 §5.2.
    public static let unsupportedGrantType = ErrorCode(known: "unsupported_grant_type")
    /// RFC 6749 §5.2.
    public static let invalidScope = ErrorCode(known: "invalid_scope")
    /// RFC 7009 §2.2.1: the server cannot revoke a token of this kind.
    public static let unsupportedTokenType = ErrorCode(known: "unsupported_token_type")
    /// RFC 8707 §2.
    public static let invalidTarget = ErrorCode(known: "invalid_target")
    /// OpenID Connect Core §3.1.2.6.
    public static let interactionRequired = ErrorCode(known: "interaction_required")
    /// OpenID Connect Core §3.1.2.6.
    public static let consentRequired = ErrorCode(known: "consent_required")
    /// OpenID Connect Core §3.1.2.6.
    public static let loginRequired = ErrorCode(known: "login_required")
    /// RFC 6749 §4.1.2.1.
    public static let serverError = ErrorCode(known: "server_error")
    /// RFC 6749 §4.1.2.1.
    public static let temporarilyUnavailable = ErrorCode(known: "temporarily_unavailable")
    /// RFC 8628 §3.5.
    public static let slowDown = ErrorCode(known: "slow_down")
    /// RFC 8628 §3.5.
    public static let authorizationPending = ErrorCode(known: "authorization_pending")
    /// RFC 8628 §3.5.
    public static let expiredToken = ErrorCode(known: "expired_token")
    /// RFC 9449 §8: the proof lacks the server's nonce.
    public static let useDPoPNonce = ErrorCode(known: "use_dpop_nonce")
    /// RFC 9449 §5.
    public static let invalidDPoPProof = ErrorCode(known: "invalid_dpop_proof")
    /// GitHub's `invalid_grant` for refresh tokens.
    public static let badRefreshToken = ErrorCode(known: "bad_refresh_token")
    /// GitHub's `invalid_grant` for codes.
    public static let badVerificationCode = ErrorCode(known: "bad_verification_code")
    /// GitHub's `invalid_grant` for device codes.
    public static let incorrectDeviceCode = ErrorCode(known: "incorrect_device_code")
    /// GitHub's `invalid_client`.
    public static let incorrectClientCredentials = ErrorCode(known: "incorrect_client_credentials")
    /// GitHub: the client may not use the device flow.
    public static let deviceFlowDisabled = ErrorCode(known: "device_flow_disabled")
    /// GitHub: not the address that was registered.
    public static let redirectURIMismatch = ErrorCode(known: "redirect_uri_mismatch")
    /// RFC 6749 §4.1.2.1, RFC 8628 §3.5.
    public static let accessDenied = ErrorCode(known: "access_denied")

    private static let known = Set<String>(
        [
            ErrorCode.invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient,
            .unsupportedGrantType, .invalidScope, .unsupportedTokenType, .invalidTarget,
            .interactionRequired, .consentRequired, .loginRequired, .serverError, .temporarilyUnavailable,
            .slowDown, .authorizationPending, .expiredToken, .useDPoPNonce, .invalidDPoPProof,
            .badRefreshToken, .badVerificationCode, .incorrectDeviceCode, .incorrectClientCredentials,
            .deviceFlowDisabled, .redirectURIMismatch, .accessDenied,
        ].map(\.rawValue))
}

extension ErrorCode {
    /// True if it says that asking again may work.
    var isTransient: Bool {
        [.temporarilyUnavailable, .slowDown, .serverError, .useDPoPNonce].contains(self)
    }

    /// True if it is the server's word: with a 5xx it may be that of a gateway that is broken.
    func counts(withStatus status: Int) -> Bool { status < 500 || isTransient }
}
