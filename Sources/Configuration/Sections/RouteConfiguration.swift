// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import BearerdRouting
package import OAuth

/// A route: the requests it matches, their upstream, its terms, and whose token they carry (`routes[]`).
///
/// An item that names identities by user (`identity: {uid: ...}`) is one route for each user.
package struct RouteConfiguration: Sendable {
    /// The item's index in the file's list.
    package let position: Int
    /// The requests that it matches.
    package internal(set) var key: RouteKey
    /// The upstream; its path is put before the request's.
    package let upstream: HTTPURL
    /// The version of HTTP in which the upstream is spoken to.
    package let upstreamProtocol: UpstreamProtocol
    package let transport: TransportConfiguration
    /// The changes to messages, and the time-outs of the upstream.
    package internal(set) var terms: RouteTerms
    /// The name of the identity whose token is added; nil for none.
    package internal(set) var identity: String?
    /// The token's own target; nil for the identity's.
    package internal(set) var target: TokenTarget?

    package static let noIdentity = "none"
}
