// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The data of a finished request that its spans show.
struct TracedRequest {
    let method: HTTPMethod
    let version: HTTPVersion
    /// The scheme that the client used.
    let scheme: HTTPURL.Scheme
    /// The target as received; spans show it without its query.
    let target: [UInt8]
    /// The client's address.
    let peer: String
    /// The status that the client saw.
    let status: Int
    /// How bearerd ended the exchange; nil if the upstream's response did.
    let abortReason: AbortReason?
    /// The name of the route; nil if none was found.
    var route: String?
    var identity: String?
    var upstream: HTTPURL?

    /// True if the request failed, or its answer broke off and neither its client nor a reload has ended it.
    var isError: Bool {
        if status >= 500 { return true }
        return switch abortReason {
        case .truncated: true
        case .rejected(let code): code.status != status
        case .clientGone, .routeGone, .accessGone, nil: false
        }
    }
}
