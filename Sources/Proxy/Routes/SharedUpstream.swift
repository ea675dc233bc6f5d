// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPClient
package import BearerdHTTPMessages
package import BearerdObservability

/// The upstream of one route, as all workers share it: its address, connection limit and failure report.
///
/// A new snapshot keeps the same object while nothing about the upstream changes, and workers find its
/// existing connections by that identity.
package final class SharedUpstream: Sendable {
    package let address: UpstreamAddress
    package let lifetimes: UpstreamPool.Lifetimes
    /// The limits for the heads of its responses.
    package let headLimits: HeadLimits
    package let limit: UpstreamLimit
    let report: UpstreamReport

    /// - Parameters:
    ///   - connections: the most connections at once.
    ///   - route: the name of the route, for the log.
    ///   - log: nil logs nothing.
    package init(
        _ address: UpstreamAddress, lifetimes: UpstreamPool.Lifetimes = UpstreamPool.Lifetimes(),
        headLimits: HeadLimits = HeadLimits(), connections: Int = 1024, route: String = "/", log: Log? = nil
    ) {
        self.address = address
        self.lifetimes = lifetimes
        self.headLimits = headLimits
        limit = UpstreamLimit(maximum: connections)
        report = UpstreamReport(of: route, at: address.place, log: log)
    }

    /// The reason for which requests to it fail, as last logged; nil while they do not.
    package var trouble: String? { report.trouble }
}
