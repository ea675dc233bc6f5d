// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// The grant of one token request.
package enum Grant: Sendable {
    /// The identity's own `grant_type`, as configured; never used where a person must log in.
    case original
    /// `refresh_token` (RFC 6749 §6).
    case refresh(Secret)
    /// `authorization_code` (RFC 6749 §4.1.3): what a login in a browser brought.
    case authorizationCode(AuthorizationCode)
    /// The identity's token exchange, for a caller's own token (RFC 8693 §2.1).
    case onBehalf(of: Secret)
    /// One poll of the device flow (RFC 8628 §3.4).
    case deviceCode(Secret, verifier: Secret)
    /// A request that the program has written itself.
    case request(TokenRequest)
}
