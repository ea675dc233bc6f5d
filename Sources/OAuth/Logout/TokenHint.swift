// SPDX-License-Identifier: Apache-2.0

/// A kind of token, spelled as in `token_type_hint` (RFC 7009 §2.1).
public enum TokenHint: String, CaseIterable, Sendable {
    /// The refresh token.
    case refreshToken = "refresh_token"
    /// The access token.
    case accessToken = "access_token"
}
