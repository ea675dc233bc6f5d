// SPDX-License-Identifier: Apache-2.0

import OAuth
import BearerdObservability
import BearerdSystem

/// What a drain says of itself while it lasts.
struct DrainNotices {
    /// Between two of them.
    static let interval = Duration.seconds(1)
    /// Of the routes and identities that are waited for so many are named.
    private static let namedOnes = 5

    /// When the drain proper begins.
    private let delayEnd: Instant
    /// When what is left then is cut.
    private let end: Instant

    /// A drain that begins now.
    init(delay: Duration, grace: Duration) {
        delayEnd = .now + delay
        end = delayEnd + grace
    }

    /// Says what is waited for, and on a terminal how to end that.
    ///
    /// - Parameters:
    ///   - identities: of the sessions that are not done; empty before connections are.
    ///   - unstored: those of them whose sessions are in memory alone.
    func tell(
        _ metrics: WorkerMetrics, _ identities: [String],
        _ unstored: [(identity: String, reason: String)], _ log: Log
    ) {
        let log = CurrentProcess.isTerminal(2) ? log.with(.hint, "Ctrl-C ends it at once") : log
        let now = Instant.now
        guard now >= delayEnd else {
            return log.notice(
                "draining: still serving, for shutdown.delay",
                [.remaining: .integer(seconds(until: delayEnd))])
        }
        if let first = unstored.first {
            return log.notice(
                "draining: waiting for the store to take a session that is in memory alone",
                [
                    .identity: .string(Self.names(unstored.map(\.identity))),
                    .reason: .string(first.reason),
                    .remaining: .integer(seconds(until: end)),
                ])
        }
        guard identities.isEmpty else {
            return log.notice(
                "draining: waiting for token requests, and for storing what they bring",
                [.identity: .string(Self.names(identities)), .remaining: .integer(seconds(until: end))])
        }
        log.with(.connections, .integer(metrics.openConnections)).notice(
            "draining: waiting for connections of clients",
            [.route: .string(busyRoutes(metrics)), .remaining: .integer(seconds(until: end))])
    }

    /// The routes whose upstreams are still busy.
    private func busyRoutes(_ metrics: WorkerMetrics) -> String {
        Self.names(metrics.routes.filter { $1.upstreamConnections[.active] > 0 }.map(\.key).sorted())
    }

    /// The first few names, each once, and how many there are beside them.
    static func names(_ all: [String]) -> String {
        let names = all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
        let more = names.count > namedOnes ? " and \(names.count - namedOnes) more" : ""
        return names.prefix(namedOnes).joined(separator: " ") + more
    }

    private func seconds(until moment: Instant) -> Int {
        max(0, Int(((moment - .now) / .seconds(1)).rounded(.up)))
    }
}
