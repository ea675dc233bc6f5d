// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPClient
internal import BearerdHTTPMessages
internal import BearerdObservability
package import BearerdRouting
package import OAuth

/// A route of a snapshot, with everything that can be computed once for all its requests.
package final class PreparedRoute: Sendable {
    let key: RouteKey
    let terms: RouteTerms
    let upstream: SharedUpstream
    /// The session whose token the requests carry; nil for none.
    let session: AuthSession?
    /// The source that the session asks in place of an identity provider; nil for a provider.
    let source: TokenSource.Name?
    /// The longest time that a request waits for a token.
    let tokenWait: Duration
    /// The address at which a browser logs in to the session; nil if only a command can.
    let loginURL: String?

    /// The path of the upstream's URL without a final slash; it precedes the request's path.
    let upstreamPrefix: [UInt8]
    /// The upstream's authority, as sent in `Host`.
    let upstreamAuthority: String
    /// The upstream's origins by which a `Location` of its own is recognised: as called, and as told in
    /// `Host`.
    ///
    /// In lower case and without the default port.
    let upstreamOrigins: [String]
    /// The `Host` field for the upstream.
    let host: PreparedField
    /// The route's path in the spelling by which it is compared with those of requests.
    let canonicalPath: [UInt8]
    /// The beginning of a target that `strip_prefix` removes.
    let stripped: StrippedPrefix
    /// True if the target is forwarded unchanged.
    let keepsTarget: Bool
    /// True if the forwarded target must not be logged, because it is changed or carries a token.
    let hidesTarget: Bool
    /// True if the client's own credentials are removed, even if there is no token to replace them.
    let replacesCredentials: Bool
    /// The changes to a request's head; nil for none.
    let requestEdits: FieldEdits?
    /// The changes to a response's head; nil for none.
    let responseEdits: FieldEdits?
    /// Names that a client's trailers must not contain, because bearerd sets these fields itself.
    let unwantedRequestTrailers: [HTTPFields.Name]
    /// Names whose look-alikes are removed from a request, because a gateway could take them for the real ones.
    ///
    /// They are ``unwantedRequestTrailers``, the `X-Forwarded-*` fields that bearerd sets, and the fields of the
    /// framing.
    let reservedNames: ReservedNames
    /// Fields by which servers override the method or path that rules have judged; nil without rules.
    let overrideFields: ReservedNames?
    /// Names that an upstream's trailers must not contain, because bearerd sets these fields itself.
    let unwantedResponseTrailers: [HTTPFields.Name]
    /// The route's name in lines of the access log.
    let loggedName: LoggedRoute

    package init(
        _ key: RouteKey, to upstream: SharedUpstream, as session: AuthSession? = nil,
        from source: TokenSource.Name? = nil, on terms: RouteTerms = RouteTerms(),
        tokenWait: Duration = .seconds(10),
        loginURL: String? = nil
    ) {
        self.key = key
        self.terms = terms
        self.upstream = upstream
        self.session = session
        self.source = source
        self.tokenWait = tokenWait
        self.loginURL = loginURL

        let url = upstream.address.url
        upstreamPrefix = Array(url.path.hasSuffix("/") ? url.path.utf8.dropLast() : url.path.utf8[...])
        upstreamAuthority = url.socketPath == nil ? url.authority : "localhost"
        var authorities = [upstreamAuthority]
        if case .value(let told) = terms.hostField { authorities.append(told) }
        upstreamOrigins = authorities.map { Self.origin(of: $0, at: url) }
        host = PreparedField(.host, known: upstreamAuthority)
        canonicalPath = key.canonicalPath
        stripped = terms.stripsPrefix ? StrippedPrefix(canonicalPath) : .none
        keepsTarget = upstreamPrefix.isEmpty && stripped == .none
        hidesTarget = !keepsTarget || terms.tokenQuery != nil

        replacesCredentials = if case .overwrite = terms.authorization { true } else { false }
        requestEdits = terms.requestEdits.isEmpty ? nil : terms.requestEdits
        responseEdits = terms.responseEdits.isEmpty ? nil : terms.responseEdits
        overrideFields = terms.rules == nil ? nil : OverrideFields.names
        unwantedRequestTrailers =
            [.bearerdKey] + terms.requestEdits.replacedNames
            + (session == nil || terms.tokenQuery != nil ? [] : [terms.credentials.name])
            + (session?.mayProve ?? false ? [.dpop] : [])
            + (session?.callers == nil ? [] : [.authorization, .dpop])
        let forwardedNames: [HTTPFields.Name] =
            terms.forwarded == .replace ? [.xForwardedFor, .xForwardedProto, .xForwardedHost] : []
        reservedNames = ReservedNames(
            [.contentLength, .transferEncoding] + unwantedRequestTrailers + forwardedNames)
        unwantedResponseTrailers = terms.responseEdits.replacedNames
        loggedName = LoggedRoute(key.path, identity: session?.identity, upstream: upstream.address.place)
    }

    /// The upstream's scheme and one of its authorities, in lower case and without the default port.
    private static func origin(of authority: String, at url: HTTPURL) -> String {
        let port = url.scheme == .https ? ":443" : ":80"
        let name = authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...]
        return "\(url.scheme == .https ? "https" : "http")://\(name.lowercased())"
    }
}
