// SPDX-License-Identifier: Apache-2.0

import OAuth
import Observability
import System

/// What a drain says of itself while it lasts.
struct DrainNotices {
    /// Between two of them.
    static let interval = Duration.seconds(1)
    /// Of the routes that are waited for so many are named.
    private static let namedRoutes = 5

    /// The routes' paths, in the order of the metrics.
    private let routes: [String]
    /// When the drain proper begins.
    private let delayEnd: Instant
    /// When what is left then is cut.
    private let end: Instant

    /// A drain that begins now.
    init(routes: [String], delay: Duration, grace: Duration) {
        self.routes = routes
        delayEnd = .now + delay
        end = delayEnd + grace
    }

    /// Says what is waited for, and on a terminal how to end that.
    func tell(_ metrics: WorkerMetrics, _ log: Log) {
        let log = CurrentProcess.isTerminal(2) ? log.with(.hint, "Ctrl-C ends it at once") : log
        let now = Instant.now
        guard now >= delayEnd else {
            return log.notice(
                "draining: still serving, for shutdown.delay",
                [.remaining: .integer(seconds(until: delayEnd))])
        }
        log.with(.connections, .integer(metrics.openConnections)).notice(
            "draining: waiting for connections of clients",
            [.route: .string(busyRoutes(metrics)), .remaining: .integer(seconds(until: end))])
    }

    /// The routes whose upstreams are still busy.
    private func busyRoutes(_ metrics: WorkerMetrics) -> String {
        let busy = zip(routes, metrics.routes).filter { $1.upstreamConnections[.active] > 0 }.map(\.0)
        let more = busy.count > Self.namedRoutes ? " and \(busy.count - Self.namedRoutes) more" : ""
        return busy.prefix(Self.namedRoutes).joined(separator: " ") + more
    }

    private func seconds(until moment: Instant) -> Int {
        max(0, Int(((moment - .now) / .seconds(1)).rounded(.up)))
    }
}
