// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPClient
internal import BearerdHTTPMessages
package import OAuth
internal import BearerdObservability
package import BearerdRouting

/// A route of a snapshot, and what can be made of it once for all its requests.
package final class PreparedRoute: Sendable {
    let key: RouteKey
    let terms: RouteTerms
    let upstream: SharedUpstream
    /// Whose token its requests carry; `nil` for none.
    let session: AuthSession?
    /// How long a request waits for a token.
    let tokenWait: Duration
    /// Where a browser logs in to the session; `nil` where only a command does.
    let loginURL: String?

    /// The upstream's own path, without a slash at its end; put before the request's.
    let upstreamPrefix: [UInt8]
    /// The upstream's authority, as sent in `Host`.
    let upstreamAuthority: String
    /// The upstream's scheme and authority, in lower case and without the scheme's own port, as we call it and as we
    /// tell it in `Host`: to recognise a `Location` of its own.
    let upstreamOrigins: [String]
    /// `Host` as the upstream expects it.
    let host: PreparedField
    /// How many bytes of the target `strip_prefix` drops.
    let strippedCount: Int
    /// Whether the target is forwarded as it came.
    let keepsTarget: Bool
    /// Whether the client's own credentials give way to the token, or go without one.
    let replacesCredentials: Bool
    /// What is changed in a request's head; nil for nothing.
    let requestEdits: FieldEdits?
    /// What is changed in an answer's head; nil for nothing.
    let responseEdits: FieldEdits?
    /// What a client must not say in place of us, behind a body either.
    let unwantedRequestTrailers: [HTTPFields.Name]
    /// ``unwantedRequestTrailers``, those of `X-Forwarded-*` that we tell, and those that say where a body ends, for what a
    /// gateway takes for them.
    let reservedNames: ReservedNames
    /// What would make another request of one that rules have judged; nil without rules.
    let overrideFields: ReservedNames?
    /// What an upstream must not say in place of us, behind a body either.
    let unwantedResponseTrailers: [HTTPFields.Name]
    /// How lines of the access log name the route.
    let loggedName: LoggedRoute

    package init(
        _ key: RouteKey, to upstream: SharedUpstream, as session: AuthSession? = nil,
        on terms: RouteTerms = RouteTerms(), tokenWait: Duration = .seconds(10),
        loginURL: String? = nil
    ) {
        self.key = key
        self.terms = terms
        self.upstream = upstream
        self.session = session
        self.tokenWait = tokenWait
        self.loginURL = loginURL

        let url = upstream.address.url
        upstreamPrefix = Array(url.path.hasSuffix("/") ? url.path.utf8.dropLast() : url.path.utf8[...])
        upstreamAuthority = url.socketPath == nil ? url.authority : "localhost"
        var authorities = [upstreamAuthority]
        if case .value(let told) = terms.hostField { authorities.append(told) }
        upstreamOrigins = authorities.map { Self.origin(of: $0, at: url) }
        host = PreparedField(.host, known: upstreamAuthority)
        strippedCount = terms.stripsPrefix ? key.path.utf8.count - (key.path.hasSuffix("/") ? 1 : 0) : 0
        keepsTarget = upstreamPrefix.isEmpty && strippedCount == 0

        replacesCredentials = if case .overwrite = terms.authorization { true } else { false }
        requestEdits = terms.requestEdits.isEmpty ? nil : terms.requestEdits
        responseEdits = terms.responseEdits.isEmpty ? nil : terms.responseEdits
        overrideFields = terms.rules == nil ? nil : OverrideFields.names
        unwantedRequestTrailers =
            [.bearerdKey] + terms.requestEdits.replacedNames
            + (session == nil ? [] : [terms.credentials.name])
            + (session?.mayProve ?? false ? [.dpop] : [])
            + (session?.callers == nil ? [] : [.authorization, .dpop])
        let forwardedNames: [HTTPFields.Name] =
            terms.forwarded == .replace ? [.xForwardedFor, .xForwardedProto, .xForwardedHost] : []
        reservedNames = ReservedNames(
            [.contentLength, .transferEncoding] + unwantedRequestTrailers + forwardedNames)
        unwantedResponseTrailers = terms.responseEdits.replacedNames
        loggedName = LoggedRoute(key.path, identity: session?.identity, upstream: upstream.address.place)
    }

    /// The upstream's scheme and an authority that it has.
    private static func origin(of authority: String, at url: HTTPURL) -> String {
        let port = url.scheme == .https ? ":443" : ":80"
        let name = authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...]
        return "\(url.scheme == .https ? "https" : "http")://\(name.lowercased())"
    }
}
