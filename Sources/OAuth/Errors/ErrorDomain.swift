// SPDX-License-Identifier: Apache-2.0

/// The party and the request that an error belongs to, as AppAuth's error domains tell them apart.
///
/// The same `error` means one thing at the token endpoint and another one in an authorization response.
public enum ErrorDomain: Hashable, Sendable {
    /// Nobody's: no connection, no answer that could be read, nothing asked for.
    case general
    /// The authorization endpoint's, in a redirect (RFC 6749 §4.1.2.1).
    case authorization
    /// The token endpoint's (RFC 6749 §5.2), to a request with this grant.
    case token(GrantType)
    /// The device authorization endpoint's (RFC 8628 §3.2).
    case deviceAuthorization
    /// The registration endpoint's (RFC 7591 §3.2.2).
    case registration
    /// The revocation endpoint's (RFC 7009 §2.2.1).
    case revocation
    /// A resource server's, the userinfo endpoint among them (RFC 6750 §3.1).
    case resourceServer
}

extension TokenFailure {
    /// This failure as one of a server that said why; without its word there is no domain to speak of.
    func refused(in domain: ErrorDomain, _ response: TransportResponse) -> TokenFailure {
        guard refusal != nil else { return self }
        var refused = self
        refused.domain = domain
        refused.providerDescription = response.errorDescription
        refused.errorURI = response.errorPage
        return refused
    }
}

extension AuthorizationRefusal {
    /// Always ``ErrorDomain/authorization``.
    public var domain: ErrorDomain { .authorization }
}
