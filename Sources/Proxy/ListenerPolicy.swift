// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// What is judged differently on each listener.
package struct ListenerPolicy: Sendable {
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

    /// The `Host`s by which it is meant.
    package var hosts: HostList
    package var fetchMetadata: FetchMetadata
    /// `nil` for no limit.
    package var rateLimit: RateLimit?

    package init(hosts: HostList, fetchMetadata: FetchMetadata = .sent, rateLimit: RateLimit? = nil) {
        self.hosts = hosts
        self.fetchMetadata = fetchMetadata
        self.rateLimit = rateLimit
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
