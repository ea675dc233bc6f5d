// SPDX-License-Identifier: Apache-2.0

internal import HTTPClient
internal import HTTPTypes
internal import OAuth

/// One worker's share of a route: its upstream connections, its view of the token, its prepared bytes.
final class RouteState {
    let index: Int
    let route: Route
    let pool: UpstreamPool
    let report: UpstreamReport
    var token: TokenReader?
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    /// Upstream connections that carry a request.
    var activeConnections = 0

    /// Whether the token goes where RFC 6750 2.1 puts it, so that its ready-made line is right.
    let takesBearerLine: Bool
    let upstreamPrefix: [UInt8]
    /// `Host` as the upstream expects it.
    let hostLine: [UInt8]
    /// How many bytes of the target `strip_prefix` drops.
    let strippedCount: Int
    /// Whether the target is forwarded as it came.
    let keepsTarget: Bool
    /// What a client must not say in place of us, nor an upstream to it, behind a body either.
    let unwantedRequestTrailers: [HTTPFields.Name]
    /// The same names, those of `X-Forwarded-*` that we tell, and those that say where a body ends, for what a gateway takes
    /// for them.
    let reservedNames: ReservedNames
    let unwantedResponseTrailers: [HTTPFields.Name]

    init(index: Int, route: Route, pool: UpstreamPool, report: UpstreamReport) {
        self.index = index
        self.route = route
        self.pool = pool
        self.report = report
        token = route.session.map { TokenReader($0.slot) }
        takesBearerLine = route.credentials.name == .authorization && route.credentials.scheme == "Bearer"
        upstreamPrefix = Array(route.upstreamPrefix.utf8)
        hostLine = Array("Host: \(route.upstreamAuthority)\r\n".utf8)
        unwantedRequestTrailers =
            [.bearerdKey] + route.requestEdits.replacedNames
            + (route.session == nil ? [] : [route.credentials.name])
        let forwardedNames: [HTTPFields.Name] =
            route.forwarded == .replace ? [.xForwardedFor, .xForwardedProto, .xForwardedHost] : []
        reservedNames = ReservedNames(
            [.contentLength, .transferEncoding] + unwantedRequestTrailers + forwardedNames)
        unwantedResponseTrailers = route.responseEdits.replacedNames
        strippedCount = route.strippedCount
        keepsTarget = route.keepsTarget
    }
}
