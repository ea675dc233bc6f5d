// SPDX-License-Identifier: Apache-2.0

/// The field names that the proxy looks at, each with a number, so that finding one means comparing integers.
///
/// There are at most 64, because ``HTTPFields`` keeps a bit for each. They are spelled only here.
package enum KnownFieldName: UInt8, CaseIterable, Sendable {
    /// Any name that is not listed here.
    case other
    case accept, acceptEncoding, accessControlAllowCredentials, accessControlAllowHeaders
    case accessControlAllowMethods, accessControlAllowOrigin, accessControlExposeHeaders, accessControlMaxAge
    case accessControlRequestHeaders, accessControlRequestMethod, age, allow, authorization, bearerdAdmin
    case bearerdKey, cacheControl, connection, contentEncoding, contentLength, contentRange,
        contentSecurityPolicy
    case contentType, cookie, date, etag, expect, forwarded, http2Settings, host, ifNoneMatch, keepAlive
    case lastModified, location, maxForwards, origin, proxyAuthenticate, proxyAuthenticationInfo
    case proxyAuthorization, proxyConnection, proxyStatus, range, referer, retryAfter, secFetchMode,
        secFetchSite
    case secWebSocketAccept, secWebSocketKey, secWebSocketProtocol, secWebSocketVersion, server, setCookie, te
    case trailer, transferEncoding, upgrade, userAgent, vary, via, wwwAuthenticate, xForwardedFor
    case xForwardedHost, xForwardedProto, xRequestID

    /// The bit of this name in a set of names.
    @inline(__always) package var bit: UInt64 { 1 &<< UInt64(rawValue) }

    /// The name in its usual spelling.
    package var spelling: String {
        switch self {
        case .other: ""
        case .accept: "Accept"
        case .acceptEncoding: "Accept-Encoding"
        case .accessControlAllowCredentials: "Access-Control-Allow-Credentials"
        case .accessControlAllowHeaders: "Access-Control-Allow-Headers"
        case .accessControlAllowMethods: "Access-Control-Allow-Methods"
        case .accessControlAllowOrigin: "Access-Control-Allow-Origin"
        case .accessControlExposeHeaders: "Access-Control-Expose-Headers"
        case .accessControlMaxAge: "Access-Control-Max-Age"
        case .accessControlRequestHeaders: "Access-Control-Request-Headers"
        case .accessControlRequestMethod: "Access-Control-Request-Method"
        case .age: "Age"
        case .allow: "Allow"
        case .authorization: "Authorization"
        case .bearerdAdmin: "X-Bearerd-Admin"
        case .bearerdKey: "X-Bearerd-Key"
        case .cacheControl: "Cache-Control"
        case .connection: "Connection"
        case .contentEncoding: "Content-Encoding"
        case .contentLength: "Content-Length"
        case .contentRange: "Content-Range"
        case .contentSecurityPolicy: "Content-Security-Policy"
        case .contentType: "Content-Type"
        case .cookie: "Cookie"
        case .date: "Date"
        case .etag: "ETag"
        case .expect: "Expect"
        case .forwarded: "Forwarded"
        case .http2Settings: "HTTP2-Settings"
        case .host: "Host"
        case .ifNoneMatch: "If-None-Match"
        case .keepAlive: "Keep-Alive"
        case .lastModified: "Last-Modified"
        case .location: "Location"
        case .maxForwards: "Max-Forwards"
        case .origin: "Origin"
        case .proxyAuthenticate: "Proxy-Authenticate"
        case .proxyAuthenticationInfo: "Proxy-Authentication-Info"
        case .proxyAuthorization: "Proxy-Authorization"
        case .proxyConnection: "Proxy-Connection"
        case .proxyStatus: "Proxy-Status"
        case .range: "Range"
        case .referer: "Referer"
        case .retryAfter: "Retry-After"
        case .secFetchMode: "Sec-Fetch-Mode"
        case .secFetchSite: "Sec-Fetch-Site"
        case .secWebSocketAccept: "Sec-WebSocket-Accept"
        case .secWebSocketKey: "Sec-WebSocket-Key"
        case .secWebSocketProtocol: "Sec-WebSocket-Protocol"
        case .secWebSocketVersion: "Sec-WebSocket-Version"
        case .server: "Server"
        case .setCookie: "Set-Cookie"
        case .te: "TE"
        case .trailer: "Trailer"
        case .transferEncoding: "Transfer-Encoding"
        case .upgrade: "Upgrade"
        case .userAgent: "User-Agent"
        case .vary: "Vary"
        case .via: "Via"
        case .wwwAuthenticate: "WWW-Authenticate"
        case .xForwardedFor: "X-Forwarded-For"
        case .xForwardedHost: "X-Forwarded-Host"
        case .xForwardedProto: "X-Forwarded-Proto"
        case .xRequestID: "X-Request-Id"
        }
    }
}
