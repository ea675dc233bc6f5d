// SPDX-License-Identifier: Apache-2.0

/// Names with the sections that define them; those of CORS are in Fetch §3.3.
extension HTTPFields.Name {
    package static var accept: Self { Self(.accept) }  // RFC 9110 §12.5.1
    package static var acceptEncoding: Self { Self(.acceptEncoding) }  // RFC 9110 §12.5.3
    package static var accessControlAllowCredentials: Self { Self(.accessControlAllowCredentials) }
    package static var accessControlAllowHeaders: Self { Self(.accessControlAllowHeaders) }
    package static var accessControlAllowMethods: Self { Self(.accessControlAllowMethods) }
    package static var accessControlAllowOrigin: Self { Self(.accessControlAllowOrigin) }
    package static var accessControlExposeHeaders: Self { Self(.accessControlExposeHeaders) }
    package static var accessControlMaxAge: Self { Self(.accessControlMaxAge) }
    package static var accessControlRequestHeaders: Self { Self(.accessControlRequestHeaders) }
    package static var accessControlRequestMethod: Self { Self(.accessControlRequestMethod) }
    package static var age: Self { Self(.age) }  // RFC 9111 §5.1
    package static var allow: Self { Self(.allow) }  // RFC 9110 §10.2.1
    package static var authorization: Self { Self(.authorization) }  // RFC 9110 §11.6.2
    package static var bearerdAdmin: Self { Self(.bearerdAdmin) }  // Guards the admin listener's actions
    package static var bearerdKey: Self { Self(.bearerdKey) }  // The shared local secret (`access.key`)
    package static var cacheControl: Self { Self(.cacheControl) }  // RFC 9111 §5.2
    package static var connection: Self { Self(.connection) }  // RFC 9110 §7.6.1
    package static var contentEncoding: Self { Self(.contentEncoding) }  // RFC 9110 §8.4
    package static var contentLength: Self { Self(.contentLength) }  // RFC 9110 §8.6
    package static var contentRange: Self { Self(.contentRange) }  // RFC 9110 §14.4
    /// Content Security Policy Level 3 §3.1.
    package static var contentSecurityPolicy: Self { Self(.contentSecurityPolicy) }
    package static var contentType: Self { Self(.contentType) }  // RFC 9110 §8.3
    package static var cookie: Self { Self(.cookie) }  // RFC 6265 §5.4
    package static var date: Self { Self(.date) }  // RFC 9110 §6.6.1
    package static var etag: Self { Self(.etag) }  // RFC 9110 §8.8.3
    package static var expect: Self { Self(.expect) }  // RFC 9110 §10.1.1
    package static var forwarded: Self { Self(.forwarded) }  // RFC 7239 §4
    package static var http2Settings: Self { Self(.http2Settings) }  // RFC 7540 §3.2.1
    package static var host: Self { Self(.host) }  // RFC 9110 §7.2
    package static var ifNoneMatch: Self { Self(.ifNoneMatch) }  // RFC 9110 §13.1.2
    package static var keepAlive: Self { Self(.keepAlive) }  // RFC 2068 §19.7.1.1
    package static var lastModified: Self { Self(.lastModified) }  // RFC 9110 §8.8.2
    package static var location: Self { Self(.location) }  // RFC 9110 §10.2.2
    package static var maxForwards: Self { Self(.maxForwards) }  // RFC 9110 §7.6.2
    package static var origin: Self { Self(.origin) }  // RFC 6454 §7
    package static var proxyAuthenticate: Self { Self(.proxyAuthenticate) }  // RFC 9110 §11.7.1
    package static var proxyAuthenticationInfo: Self { Self(.proxyAuthenticationInfo) }  // RFC 9110 §11.7.3
    package static var proxyAuthorization: Self { Self(.proxyAuthorization) }  // RFC 9110 §11.7.2
    /// A mistake of old clients that RFC 9110 §7.6.1 wants removed.
    package static var proxyConnection: Self { Self(.proxyConnection) }
    package static var proxyStatus: Self { Self(.proxyStatus) }  // RFC 9209 §2
    package static var range: Self { Self(.range) }  // RFC 9110 §14.2
    package static var referer: Self { Self(.referer) }  // RFC 9110 §10.1.3
    package static var retryAfter: Self { Self(.retryAfter) }  // RFC 9110 §10.2.3
    package static var secFetchMode: Self { Self(.secFetchMode) }  // Fetch Metadata Request Headers §2
    package static var secFetchSite: Self { Self(.secFetchSite) }  // Fetch Metadata Request Headers §2
    package static var secWebSocketAccept: Self { Self(.secWebSocketAccept) }  // RFC 6455 §11.3.3
    package static var secWebSocketKey: Self { Self(.secWebSocketKey) }  // RFC 6455 §11.3.1
    package static var secWebSocketProtocol: Self { Self(.secWebSocketProtocol) }  // RFC 6455 §11.3.4
    package static var secWebSocketVersion: Self { Self(.secWebSocketVersion) }  // RFC 6455 §11.3.5
    package static var server: Self { Self(.server) }  // RFC 9110 §10.2.4
    package static var setCookie: Self { Self(.setCookie) }  // RFC 6265 §4.1
    package static var te: Self { Self(.te) }  // RFC 9110 §10.1.4
    package static var trailer: Self { Self(.trailer) }  // RFC 9110 §6.6.2
    package static var transferEncoding: Self { Self(.transferEncoding) }  // RFC 9112 §6.1
    package static var upgrade: Self { Self(.upgrade) }  // RFC 9110 §7.8
    package static var userAgent: Self { Self(.userAgent) }  // RFC 9110 §10.1.5
    package static var vary: Self { Self(.vary) }  // RFC 9110 §12.5.5
    package static var via: Self { Self(.via) }  // RFC 9110 §7.6.3
    package static var wwwAuthenticate: Self { Self(.wwwAuthenticate) }  // RFC 9110 §11.6.1
    package static var xForwardedFor: Self { Self(.xForwardedFor) }  // older than RFC 7239, added on demand
    package static var xForwardedHost: Self { Self(.xForwardedHost) }
    package static var xForwardedProto: Self { Self(.xForwardedProto) }
    package static var xRequestID: Self { Self(.xRequestID) }  // Joins the log lines of several hops
}
