// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// What is judged differently on each listener.
package final class ListenerPolicy: Sendable {
    /// What browsers say to a listener of where a request comes from (`Sec-Fetch-Site`).
    ///
    /// They do so only to what they trust (Fetch Metadata §3, Secure Contexts §3.1).
    package enum FetchMetadata: Sendable {
        /// HTTPS; and where no browser gets to.
        case sent
        /// Plain HTTP on loopback.
        case sentToLoopbackNames
        /// Plain HTTP off loopback.
        case missing
    }

    package let key: ListenerKey
    /// The `Host`s by which it is meant.
    package let hosts: HostList
    package let fetchMetadata: FetchMetadata
    /// `nil` for no limit.
    package let rateLimit: RateLimit?
    /// Encrypts its connections over TCP; `nil` leaves them plain.
    package let security: (any ConnectionSecurity)?

    package init(
        key: ListenerKey, hosts: HostList, fetchMetadata: FetchMetadata = .sent,
        rateLimit: RateLimit? = nil, security: (any ConnectionSecurity)? = nil
    ) {
        self.key = key
        self.hosts = hosts
        self.fetchMetadata = fetchMetadata
        self.rateLimit = rateLimit
        self.security = security
    }

    /// Whether a `Referer` is judged as an `Origin` is: with a GET browsers send no `Origin`, and nothing else would
    /// tell a foreign page's request from a program's.
    ///
    /// - Parameter host: as the request names it.
    func judgesReferer(toHost host: String?) -> Bool {
        switch fetchMetadata {
        case .sent: false
        case .sentToLoopbackNames: host.flatMap { HTTPURL("http://\($0)") }.map { !$0.isLoopback } ?? false
        case .missing: true
        }
    }
}
