// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// The rules that differ between listeners.
package final class ListenerPolicy: Sendable {
    /// The listeners to which browsers send `Sec-Fetch-Site`.
    ///
    /// They send it only to origins that they trust (Fetch Metadata §3, Secure Contexts §3.1).
    package enum FetchMetadata: Sendable {
        /// It is always sent: HTTPS, or a listener that no browser reaches.
        case sent
        /// It is sent if the host is a loopback name: plain HTTP on loopback.
        case sentToLoopbackNames
        /// It is never sent: plain HTTP beyond loopback.
        case missing
    }

    package let key: ListenerKey
    /// The listener's names, for `Host`.
    package let hosts: HostList
    package let fetchMetadata: FetchMetadata
    /// nil for no limit.
    package let rateLimit: RateLimit?
    /// The TLS settings for connections over TCP; nil leaves them plain.
    package let security: (any ConnectionSecurity)?
    /// True if there is ``security``, which a look at each new connection need not copy.
    let isSecured: Bool
    /// Tells of clients that speak TLS; nil where nobody does so by mistake.
    let strayTLS: StrayTLS?
    /// Tells of clients that flood their HTTP/2 connections; nil says nothing.
    let floods: ClientFloods?
    /// False if requests of HTTP/1.1 are refused.
    let speaksHTTP1: Bool
    /// False if HTTP/2 is refused, which TLS also does not offer then.
    let speaksHTTP2: Bool

    package init(
        key: ListenerKey, hosts: HostList, fetchMetadata: FetchMetadata = .sent,
        rateLimit: RateLimit? = nil, security: (any ConnectionSecurity)? = nil, strayTLS: StrayTLS? = nil,
        floods: ClientFloods? = nil, speaksHTTP1: Bool = true, speaksHTTP2: Bool = true
    ) {
        self.speaksHTTP1 = speaksHTTP1
        self.speaksHTTP2 = speaksHTTP2
        self.key = key
        self.hosts = hosts
        self.fetchMetadata = fetchMetadata
        self.rateLimit = rateLimit
        self.security = security
        isSecured = security != nil
        self.strayTLS = strayTLS
        self.floods = floods
    }

    /// Returns true if `Referer` is judged like `Origin`, which browsers omit from a GET.
    ///
    /// Without either nothing would tell a foreign page's request from a program's.
    ///
    /// - Parameter host: the request's `Host`.
    func judgesReferer(toHost host: String?) -> Bool {
        switch fetchMetadata {
        case .sent: false
        case .sentToLoopbackNames: host.flatMap { HTTPURL("http://\($0)") }.map { !$0.isLoopback } ?? false
        case .missing: true
        }
    }
}
