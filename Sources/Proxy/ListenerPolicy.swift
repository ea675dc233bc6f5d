// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// What is judged differently on each listener.
package struct ListenerPolicy: Sendable {
    /// The `Host`s by which it is meant.
    package var hosts: HostList
    /// Whether a `Referer` is judged as an `Origin` is.
    ///
    /// To plain HTTP off loopback browsers send no `Sec-Fetch-Site` (Fetch Metadata §3), and with a GET no `Origin`: on
    /// such a listener nothing else may tell a foreign page's request from a program's.
    package var judgesReferer: Bool
    /// `nil` for no limit.
    package var rateLimit: RateLimit?

    package init(hosts: HostList, judgesReferer: Bool = false, rateLimit: RateLimit? = nil) {
        self.hosts = hosts
        self.judgesReferer = judgesReferer
        self.rateLimit = rateLimit
    }
}
