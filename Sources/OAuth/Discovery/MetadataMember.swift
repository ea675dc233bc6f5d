// SPDX-License-Identifier: Apache-2.0

/// A member of a metadata document that is no endpoint (RFC 8414 §2).
enum MetadataMember: String {
    case issuer
    /// RFC 8705 §5.
    case aliases = "mtls_endpoint_aliases"
    /// RFC 9207 §3.
    case responsesHaveIssuer = "authorization_response_iss_parameter_supported"
    /// RFC 9449 §5.1.
    case proofAlgorithms = "dpop_signing_alg_values_supported"
    /// RFC 9126 §5.
    case requiresPushedRequests = "require_pushed_authorization_requests"
}
