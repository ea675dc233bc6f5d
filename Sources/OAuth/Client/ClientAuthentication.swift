// SPDX-License-Identifier: Apache-2.0

/// How a client proves itself to the token endpoint (`token_endpoint_auth_method`, RFC 7591 §2).
package enum ClientAuthentication: String, CaseIterable, Sendable {
    /// A public client: `client_id` alone, in the body.
    case none = "none"
    /// HTTP Basic (RFC 6749 §2.3.1); its encoding is a matter of ``BasicEncoding``.
    case basic = "client_secret_basic"
    /// `client_id` and `client_secret` in the body (RFC 6749 §2.3.1).
    case post = "client_secret_post"
}
