// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// What one token request is made with.
package enum Grant: Sendable {
    /// The identity's own `grant_type`, as configured.
    case original
    /// `refresh_token` (RFC 6749 §6).
    case refresh(Secret)
}
