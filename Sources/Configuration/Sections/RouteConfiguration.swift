// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import OAuth
package import Routing

/// Which requests go to which upstream, on what terms, and with whose token (`routes[]`).
///
/// An item of the list with an identity for each of some users (`identity: {uid: ...}`) is a route for each of them.
package struct RouteConfiguration: Sendable {
    /// Where it stands in the file's list; the same for those of one item.
    package let position: Int
    /// Which requests these are.
    package internal(set) var key: RouteKey
    /// Where they go; its path is put before theirs.
    package let upstream: HTTPURL
    /// How the upstream is connected to.
    package let transport: TransportConfiguration
    /// What is changed on the way, and how long the upstream may take.
    package let terms: RouteTerms
    /// The name of the identity whose token is put in; nil for none.
    package internal(set) var identity: String?
    /// What the token is asked for; nil for what the identity asks for.
    package internal(set) var target: TokenTarget?

    /// The word for no identity.
    package static let noIdentity = "none"
}
