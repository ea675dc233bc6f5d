// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import OAuth

/// Which requests go to which upstream, and with whose token (`routes[]`).
package struct RouteConfiguration: Sendable {
    /// What becomes of the client's own header where the token goes.
    package enum AuthorizationPolicy: String, CaseIterable, Sendable {
        /// The client's own field is replaced by the token.
        case overwrite
        /// The client's own field is kept, and no token is put in.
        case preserve
        /// The request is refused.
        case reject
    }

    /// What `Host` says to the upstream.
    package enum HostHeader: Hashable, Sendable {
        /// The upstream's own authority.
        case upstream
        /// What the client said.
        case preserve
        /// This text.
        case value(String)
    }

    /// What is said of the client in `X-Forwarded-For`, `-Proto` and `-Host`.
    package enum ForwardedPolicy: Sendable {
        /// Nothing of ours; what the client sent stays.
        case none
        /// What we know, in place of what the client claims.
        case replace
        /// Our peer is added to `-For`; the other two stay if they are there.
        case append
    }

    /// What is done without a token.
    package enum MissingTokenPolicy: String, CaseIterable, Sendable {
        /// The request fails.
        case fail
        /// The request goes on without a token.
        case pass
    }

    /// The beginning of the request's path, in whole segments; as configured.
    package let path: String
    /// The host that a request must name; nil for any.
    package let host: HostPattern?
    /// The listener that a request must come in on; nil for any.
    package let listen: ListenAddress?
    /// The methods that are let through; nil for any.
    package let methods: Set<HTTPMethod>?
    /// Where requests go; its path is put before theirs.
    package let upstream: HTTPURL
    /// Whether ``path`` is taken off first.
    package let stripsPrefix: Bool
    /// The name of the identity whose token is put in; nil for none.
    package let identity: String?
    /// What the token is asked for; nil for what the identity asks for.
    package let target: TokenTarget?
    /// What may be asked for (`allow`); nil for everything.
    package let allow: RequestRules?
    /// What becomes of the client's own ``header``.
    package let authorization: AuthorizationPolicy
    /// The header that carries the token.
    package let header: HTTPFields.Name
    /// The word before the token; empty for the token alone.
    package let scheme: String
    /// What `Host` says.
    package let hostHeader: HostHeader
    /// Changes to requests.
    package let requestHeaders: HeaderEdits
    /// Changes to responses.
    package let responseHeaders: HeaderEdits
    /// What is said of the client.
    package let forwarded: ForwardedPolicy
    /// Whether we add ourselves to `Via`.
    package let via: Bool
    /// Protocols that a connection may be upgraded to, in lower case.
    package let upgrade: Set<String>
    /// Statuses that force a refresh and one replay.
    package let retryOnStatus: Set<Int>
    /// The longest request body that can be replayed, in bytes.
    package let replayBuffer: Int
    /// What is done without a token.
    package let onNoToken: MissingTokenPolicy
    /// How long the upstream may take.
    package let timeouts: UpstreamTimeouts
    /// How the upstream is connected to.
    package let transport: TransportConfiguration

    /// The word for no identity.
    package static let noIdentity = "none"
}
