// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPClient
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdObservability
package import OAuth

/// An error response of bearerd's own; here a failure becomes a status, and nowhere else (RFC 9110 §15.5,
/// §15.6).
package struct Rejection: Equatable, Sendable {
    /// The stable code that programs may rely on.
    package let code: RejectionCode
    /// Text for people; from a client's or provider's message it repeats at most a name in plain letters.
    package private(set) var detail: String
    /// The error type of `Proxy-Status` (RFC 9209 §2.3).
    package let proxyStatus: String
    /// The value of `Retry-After`; nil sends none.
    package var retryAfter: Duration?
    /// The party to blame, if the status alone does not tell.
    private(set) var blame: AnswerBlame?
    /// The page for a browser; nil for failures that a person cannot resolve there.
    private(set) var page: LoginRequiredPage?

    package var status: Int { code.status }

    init(
        _ code: RejectionCode, _ detail: String, proxyStatus: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.detail = detail
        self.proxyStatus = proxyStatus ?? code.proxyStatus
        blame = code.blame
        self.retryAfter = retryAfter ?? code.retryAfter
    }

    /// - Parameters:
    ///   - identity: the identity whose token the route carries.
    ///   - source: the source of its tokens; nil for an identity provider.
    ///   - route: the route's path; nil before it is found.
    ///   - hosts: the first hosts that have a route of the request's path, for a request to another one; one more than
    ///     are told, if there are more.
    ///   - upstream: the route's upstream, if its address may be told to the client.
    ///   - provider: host and port of the server that fails to give tokens, under the same condition.
    ///   - loginURL: the address at which a browser logs in; nil if only a command can.
    ///   - pageInPlaceOfCommands: the status page, where no command can help.
    ///   - fields: the fields of the request.
    /// - Returns: nil if there is nobody to answer.
    package init?(
        _ error: ProxyError, identity: String?, source: TokenSource.Name? = nil, route: String? = nil,
        hosts: [String] = [], upstream: UpstreamAddress? = nil, provider: String? = nil,
        loginURL: String? = nil, pageInPlaceOfCommands: String? = nil, fields: HTTPFields = HTTPFields()
    ) {
        self.init(
            bare: error, identity: identity, source: source,
            login: LoginWay(identity: identity, url: loginURL, page: pageInPlaceOfCommands), fields: fields)
        if !hosts.isEmpty { name(hosts, beside: fields[.host]) }
        guard status >= 500 else {
            if let route { name(route, in: error) }
            return
        }
        let way = "see \(pageInPlaceOfCommands ?? "'bearerd status'")"
        // Before the route is known there is nothing to name.
        guard let route else {
            detail = "\(detail.dropLast()); \(way)"
            return
        }
        var subject = "route \(route)"
        switch error {
        case .upstreamUnavailable(.proxy(let failure)):
            if upstream != nil, let place = failure.place { subject += ", \(place)" }
        case .upstreamUnavailable, .upstreamTimedOut, .answerTimedOut, .upstreamProtocol,
            .upstreamMalformed, .upstreamHeadCut, .upstreamClosed, .upstreamSilent, .upstreamReset,
            .upstreamFlood:
            if let identity { subject += ", identity \(identity)" }
            if let upstream { subject += ", \(upstream.destination)" }
        case .misconfigured, .providerUnavailable:
            if let identity { subject += ", identity \(identity)" }
            if let provider { subject += ", \(provider)" }
        default:
            if let identity { subject += ", identity \(identity)" }
        }
        detail = "\(detail.dropLast()) (\(subject)); \(way)"
    }

    /// One more than the number of hosts that are told.
    package static let mostHosts = 6

    /// Tells whom a request to another host could have been for.
    private mutating func name(_ hosts: [String], beside host: String?) {
        let told = hosts.prefix(Self.mostHosts - 1).joined(separator: ", ")
        let asked = PlainName.host(host).map { "for the host '\($0)'" } ?? "for the request's Host"
        detail =
            "No route has this path \(asked); routes of this path are for \(told)"
            + (hosts.count < Self.mostHosts ? "." : " and others.")
    }

    /// Names the route whose key refuses the request.
    private mutating func name(_ route: String, in error: ProxyError) {
        let key: String? =
            switch error {
            case .methodNotAllowed: "methods"
            case .policyDenied: "allow"
            case .accessDenied(.authorizationHeader): "authorization"
            case .accessDenied(.user): "identity.uid"
            default: nil
            }
        if let key { detail = "\(detail.dropLast()) (route \(route), \(key))." }
    }

    private init?(
        bare error: ProxyError, identity: String?, source: TokenSource.Name?, login: LoginWay,
        fields: HTTPFields
    ) {
        switch error {
        case .malformedRequest(let reason):
            self.init(malformed: reason)
        case .unencryptedRequest:
            self.init(.badRequest, "The request came as plain HTTP, and this listener speaks HTTPS.")
        case .ambiguousPath:
            self.init(.badRequest, "The path means one thing as sent and another once normalised.")
        case .accessDenied(let denial):
            self.init(.accessDenied, Self.words(for: denial, fields))
        case .wrongHost:
            self.init(.wrongHost, RefusedCaller.host(fields[.host]))
        case .noRoute:
            self.init(.noRoute, "No route has this path.")
        case .methodNotAllowed:
            self.init(.methodNotAllowed, "The route does not take this method.")
        case .methodRefused:
            self.init(.methodNotAllowed, "CONNECT, TRACE and TRACK are passed on to no upstream.")
        case .tunnelRefused:
            self.init(
                .methodNotAllowed,
                "No token could be put into a tunnel (CONNECT). Ask for an http:// URL of this host in place of "
                    + "https://: bearerd itself speaks TLS to the upstream.")
        case .tunnelUnknown:
            self.init(
                .notImplemented,
                "The route passes on no tunnel of this protocol (upgrade), or the upstream takes none.")
        case .policyDenied(hasOddSegment: false):
            self.init(.policyDenied, "The route's rules do not allow this method and path.")
        case .policyDenied(hasOddSegment: true):
            self.init(
                .policyDenied,
                """
                The path has an empty segment, a dot segment, or a character that some servers read as part of one, which a route \
                with rules does not take.
                """
            )
        case .requestTimedOut(isHead: true):
            self.init(.requestTimeout, "The request head did not arrive within timeouts.header.")
        case .requestTimedOut(isHead: false):
            self.init(.requestTimeout, "Nothing of the body arrived for timeouts.stream_idle.")
        case .bodyTooLarge:
            self.init(.bodyTooLarge, "The body is larger than limits.body_bytes.")
        case .rateLimited:
            self.init(.rateLimited, "More requests than limits.requests_per_second.")
        case .revoked(isRouteGone: true): self.init(.noRoute, "A reload took the route away.")
        case .revoked(isRouteGone: false):
            self.init(.accessDenied, "After a reload the request is not allowed any more.")
        case .draining: self.init(.draining, "bearerd is shutting down.")
        case .loopDetected:
            self.init(.loopDetected, "The request has come through bearerd five times.")
        case .loginRequired:
            self.init(.loginRequired, "Somebody must log in: \(login.words).")
            page = LoginRequiredPage(identity: identity, url: login.url, command: login.command)
        case .misconfigured(let retryAfter):
            let words = source.map { "\($0.party) \($0.refusal)." }
            self.init(
                .misconfigured, words ?? "No token can be had with this configuration.",
                retryAfter: retryAfter)
        case .providerUnavailable(let retryAfter):
            let party = source?.party ?? "The identity provider"
            self.init(.providerUnavailable, "\(party) gave no token.", retryAfter: retryAfter)
        case .storeUnavailable(let retryAfter):
            self.init(
                .providerUnavailable,
                "The store of the sessions cannot be used, may lack what others have, or another process keeps its lock, so no token is asked for.",
                retryAfter: retryAfter)
            blame = .bearerd
        case .upstreamUnavailable(.cancelled):
            return nil
        case .upstreamUnavailable(let reason):
            self.init(unavailable: reason)
        case .uploadTimedOut:
            self.init(.upstreamTimeout, "The upstream took nothing of the body for timeouts.stream_idle.")
        case .upstreamTimedOut:
            self.init(.upstreamTimeout, "The upstream took longer than timeouts.first_byte.")
        case .answerTimedOut:
            self.init(.upstreamTimeout, "Nothing of the upstream's answer arrived for timeouts.stream_idle.")
        case .upstreamProtocol:
            self.init(
                .upstreamProtocol,
                "The upstream's answer is not HTTP, or not the one of the route's upstream_protocol.")
        case .upstreamMalformed(let fault):
            self.init(answer: fault)
        case .upstreamHeadCut:
            self.init(
                .upstreamProtocol, "The upstream closed the connection inside the head of its answer.",
                proxyStatus: "http_response_incomplete")
        case .upstreamReset:
            self.init(
                .upstreamProtocol,
                "The upstream ended the request's stream (RST_STREAM) before it had answered.")
        case .upstreamFlood(let kind):
            self.init(
                .upstreamProtocol,
                "bearerd ended the connection to the upstream, which sent more of one kind than anybody needs to: \(kind)."
            )
        case .upstreamSilent:
            self.init(
                .upstreamProtocol,
                "The upstream has not answered, and nothing came on its connection any more, not even an answer to a PING.",
                proxyStatus: "connection_read_timeout")
        case .upstreamClosed:
            self.init(
                .upstreamProtocol, "The upstream closed the connection before it had answered.",
                proxyStatus: "connection_terminated")
        case .clientGone:
            return nil
        }
    }

    /// The text for a denied request: the protection that denied it, and the way through.
    private static func words(for denial: ProxyError.Denial, _ fields: HTTPFields) -> String {
        switch denial {
        case .peer:
            "This user may not use the listener: access.peer_uids has who may, else bearerd's own user and root."
        case .certificate:
            "This listener takes no such connection any more: clients need a certificate of tls.client_ca_file."
        case .certificateName:
            "None of the names (subjectAltName) in the client's certificate is one of tls.client_allow."
        case .user: "This route has no identity for this user: its identity.uid lists those it has."
        case .key:
            "The header X-Bearerd-Key is missing or wrong: access.key or access.keys have what it has to be."
        case .origin: RefusedCaller.origin(fields.onlyValue(of: .origin))
        case .referer:
            RefusedCaller.origin(
                fields.onlyValue(of: .referer).flatMap(AccessPolicy.origin(ofReferer:)))
        case .site:
            "The request comes from a page of another origin and does not say which: only one whose Origin is in access.origins may call."
        case .authorizationHeader:
            "This route takes from clients no header in which it sends a token of its own."
        case .noCallerToken:
            "This route acts for its caller: it needs one Authorization header with the caller's own bearer token."
        case .callerToken: "The identity provider does not exchange the caller's own token."
        }
    }

    init(malformed fault: MessageFault) {
        let (code, detail): (RejectionCode, String) =
            switch fault {
            case .malformed, .undecodable: (.badRequest, "The request is not well-formed HTTP.")
            case .breaking(let rule): (.badRequest, "The request is not well-formed HTTP: \(rule).")
            case .targetTooLong:
                (.uriTooLong, "The request target is longer than limits.uri_bytes.")
            case .headTooLarge:
                (.headersTooLarge, "The request head is larger than limits.header_bytes.")
            case .tooManyFields:
                (.headersTooLarge, "The request head has more than \(HeadLimits().maxFields) fields.")
            case .trailersTooLarge:
                (
                    .headersTooLarge,
                    "The trailers behind the body are larger than limits.header_bytes, or have more than \(HeadLimits().maxFields) fields."
                )
            case .methodTooLong: (.notImplemented, "The method is longer than any that is known.")
            case .unknownCoding: (.notImplemented, "The transfer coding is unknown.")
            case .unsupportedVersion:
                (.versionNotSupported, "This version of HTTP is not spoken here.")
            }
        self.init(code, detail)
    }

    /// The head and body of the response: `application/problem+json` (RFC 9457), or a page.
    ///
    /// - Parameter isForPerson: true if a browser's window shows the response.
    package func message(isForPerson: Bool = false) -> (head: HTTPResponse, body: [UInt8]) {
        let problem = Problem(status: status, code: code.rawValue, detail: detail)
        var (head, bytes) = (problem.head, [UInt8]())
        if isForPerson, let page {
            bytes = page.bytes
            page.describe(in: &head.fields)
        } else {
            bytes = problem.body
        }
        head.fields[.contentLength] = String(bytes.count)
        head.fields[.cacheControl] = "no-store"
        head.fields[.proxyStatus] = "bearerd; error=\(proxyStatus)"
        if let retryAfter {
            head.fields[.retryAfter] = String(
                max(1, retryAfter.components.seconds + (retryAfter.components.attoseconds > 0 ? 1 : 0)))
        }
        return (head, bytes)
    }
}

extension HTTPFields {
    /// The value of the only field of that name; nil if there are several or none.
    fileprivate func onlyValue(of name: Name) -> String? { count(of: name) == 1 ? self[name] : nil }
}

/// How somebody logs in to an identity.
private struct LoginWay {
    let identity: String?
    /// The address at which a browser logs in; nil if only a command can.
    let url: String?
    /// The status page, where no command can help.
    let page: String?

    var command: String { ["bearerd login", identity].compactMap(\.self).joined(separator: " ") }

    /// The way in words.
    var words: String {
        let inBrowser = (url ?? page).map { "open \($0) in a browser" }
        let byCommand = page == nil ? "run '\(command)'" : nil
        return [inBrowser, byCommand].compactMap(\.self).joined(separator: ", or ")
    }
}
