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
    let judge: RouteJudge

    /// - Parameters:
    ///   - limit: of its connections; one with other settings before it has perhaps begun to count.
    ///   - route: the name of the route, for the log.
    ///   - log: nil logs nothing.
    ///   - onFailing: called on any thread when the route begins to fail; ``isFailing()`` has to be asked each second
    ///     from then on, for as long as it is.
    package init(
        _ address: UpstreamAddress, lifetimes: UpstreamPool.Lifetimes = UpstreamPool.Lifetimes(),
        headLimits: HeadLimits = HeadLimits(), limit: UpstreamLimit = UpstreamLimit(maximum: 1024),
        route: String = "/", log: Log? = nil,
        onFailing: (@Sendable () -> Void)? = nil
    ) {
        self.address = address
        self.lifetimes = lifetimes
        self.headLimits = headLimits
        self.limit = limit
        let log = log?.with(.route, .string(route)).with(.upstream, .string(address.place))
        report = UpstreamReport(log: log)
        judge = RouteJudge(log: log, onFailing: onFailing)
    }

    /// Its state at this moment.
    package var health: UpstreamHealth { judge.health(report.trouble) }

    /// Judges the route by the last minute's answers, and tells the log if it fails no more.
    package func isFailing() -> Bool { judge.judge() }

    /// Ends what is told of it: no request of the configuration in force goes there.
    package func retire() { judge.retire() }
}
