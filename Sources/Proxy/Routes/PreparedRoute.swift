// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth

/// A route, and what can be made of it once for all its requests.
final class PreparedRoute: Sendable {
    let route: Route
    /// What it is the same route by in the next configuration.
    let key: RouteKey

    let upstreamPrefix: [UInt8]
    /// `Host` as the upstream expects it.
    let host: PreparedField
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

    init(_ route: Route) {
        self.route = route
        key = RouteKey(route)
        upstreamPrefix = Array(route.upstreamPrefix.utf8)
        host = PreparedField(.host, known: route.upstreamAuthority)
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
