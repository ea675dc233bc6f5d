// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPClient
package import BearerdHTTPMessages
package import BearerdObservability

/// One route's upstream as all workers share it: where it is, how many connections it may have, what the log says of it.
///
/// A snapshot takes it over from the one before for as long as nothing of it changes. It is what workers find the
/// connections by that they have already.
package final class SharedUpstream: Sendable {
    package let address: UpstreamAddress
    package let lifetimes: UpstreamPool.Lifetimes
    /// How large the heads of its answers may be.
    package let headLimits: HeadLimits
    package let limit: UpstreamLimit
    let report: UpstreamReport

    /// - Parameters:
    ///   - connections: how many there may be at once.
    ///   - route: the name of the route, for the log.
    ///   - log: nil says nothing.
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

    /// Why requests to it fail, as the log last said; nil while they do not.
    package var trouble: String? { report.trouble }

    /// One worker's connections to it.
    func makePool(_ multis: CurlMultiSet) -> WorkerUpstreamPool {
        WorkerUpstreamPool(
            address: address, limit: limit, lifetimes: lifetimes, headLimits: headLimits, multis: multis)
    }
}
