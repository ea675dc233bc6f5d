// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// What spans say of a request that is over.
struct TracedRequest {
    let method: HTTPMethod
    let version: HTTPVersion
    /// The scheme that the client used.
    let scheme: HTTPURL.Scheme
    /// As it came, with its query, which no span has.
    let target: [UInt8]
    /// The client's address.
    let peer: String
    /// The status that the client saw.
    let status: Int
    /// How we ended it, unless the upstream's answer did.
    let ending: OwnEnding?
    /// The name of the route; nil where none was found.
    var route: String?
    var identity: String?
    var upstream: HTTPURL?
}
