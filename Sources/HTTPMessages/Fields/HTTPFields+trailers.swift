// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// Fields that must not follow the content: framing, routing, authentication, request modifiers,
    /// description of the content, connection fields (RFC 9110 §6.5.1).
    private static let forbiddenTrailers: UInt64 = [
        KnownFieldName.transferEncoding, .contentLength, .trailer, .te, .host, .authorization,
        .wwwAuthenticate,
        .proxyAuthenticate, .proxyAuthorization, .proxyAuthenticationInfo, .cookie, .setCookie, .bearerdKey,
        .bearerdAdmin, .cacheControl, .expect, .maxForwards, .range, .contentEncoding, .contentType,
        .contentRange,
        .connection, .keepAlive, .proxyConnection, .upgrade, .http2Settings, .age, .date, .location,
        .retryAfter,
        .vary, .origin, .forwarded, .xForwardedFor, .xForwardedHost, .xForwardedProto, .via,
    ].reduce(0) { $0 | $1.bit }

    /// Removes what must not follow the content; whoever receives a trailer section does so before anybody else sees it.
    package mutating func removeForbiddenTrailers() {
        guard present & Self.forbiddenTrailers != 0 else { return }
        removeEntries { Self.forbiddenTrailers & $1.known.bit != 0 }
    }
}
