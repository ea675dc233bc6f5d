// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Fields by which some frameworks or gateways replace a request's method or path.
///
/// A route with rules does not forward them, because the rules judge the method and path alone.
enum OverrideFields {
    /// All of the fields, in every spelling that a gateway may treat as equal.
    static let names = ReservedNames((methods + paths).map { HTTPFields.Name(known: $0) })

    private static let methods: [StaticString] = [
        // Rails, Symfony, Laravel, Express, Google APIs; OData; IBM.
        "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
        // Forward authentication (Traefik, Caddy, ingress-nginx, Authelia), Envoy.
        "X-Forwarded-Method", "X-Original-Method", "X-Envoy-Original-Method", "X-Method",
    ]

    private static let paths: [StaticString] = [
        // IIS and its modules, Symfony and Zend of old.
        "X-Original-URL", "X-Rewrite-URL", "X-Waws-Unencoded-URL", "X-Override-URL", "X-MS-Original-URL",
        "X-HTTP-DestinationURL",
        // Forward authentication.
        "X-Original-URI", "X-Forwarded-URI", "X-Forwarded-URL",
        // Envoy, Traefik, Next.js.
        "X-Envoy-Original-Path", "X-Envoy-Original-URL", "X-Replaced-Path", "X-Matched-Path", "X-Invoke-Path",
        // Spring, ASP.NET, Werkzeug and WSGI middleware: what stands before the path.
        "X-Forwarded-Prefix", "X-Original-Prefix", "X-Forwarded-Path", "X-Forwarded-PathBase",
        "X-Script-Name",
        "X-Forwarded-Script-Name",
        "X-Original-Path", "X-Rewrite-URI", "X-Rewrite-Path", "X-Request-URI", "X-Request-URL",
        "X-Request-Path",
        "X-Real-URI", "X-Real-URL", "X-Original-Request-URI", "X-URL", "Request-URI", "Base-URL",
        // Variables of CGI (RFC 3875 §4.1), in gateways that pass fields on by their bare names.
        "Path-Info", "Script-Name",
    ]
}
