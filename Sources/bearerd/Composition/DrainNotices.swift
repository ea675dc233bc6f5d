// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdSystem
import OAuth

/// The log lines of a drain.
struct DrainNotices {
    /// The time between two lines.
    static let interval = Duration.seconds(1)
    /// The most routes or identities that a line names.
    private static let namedOnes = 5

    /// When the drain proper begins.
    private let delayEnd: Instant
    /// When the remaining connections are cut.
    private let end: Instant
    /// When the collector is waited for no longer, to which alone something is left to be sent; nil before that.
    var flushEnd: Instant?

    /// Starts a drain now.
    init(delay: Duration, grace: Duration) {
        delayEnd = .now + delay
        end = delayEnd + grace
    }

    /// Logs what the drain waits for and, on a terminal, how to end it.
    ///
    /// - Parameters:
    ///   - identities: the identities of unfinished sessions; empty while connections remain.
    ///   - unstored: those whose sessions are in memory only.
    func tell(
        _ metrics: WorkerMetrics, _ identities: [String],
        _ unstored: [UnstoredSession], _ log: Log
    ) {
        let log = CurrentProcess.isTerminal(2) ? log.with(.hint, "Ctrl-C ends it at once") : log
        let now = Instant.now
        guard now >= delayEnd else {
            return log.notice(
                "draining: still serving, for shutdown.delay",
                [.remaining: .integer(seconds(until: delayEnd))])
        }
        if let flushEnd {
            return log.notice(
                "draining: waiting for the collector to take the last traces",
                [.remaining: .integer(seconds(until: flushEnd))])
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

    /// The routes with active upstream connections.
    private func busyRoutes(_ metrics: WorkerMetrics) -> String {
        Self.names(metrics.routes.filter { $1.upstreamConnections[.active] > 0 }.map(\.key).sorted())
    }

    /// The first names, each once, and the number of further ones.
    static func names(_ all: [String]) -> String {
        let names = all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
        let more = names.count > namedOnes ? " and \(names.count - namedOnes) more" : ""
        return names.prefix(namedOnes).joined(separator: " ") + more
    }

    private func seconds(until moment: Instant) -> Int {
        max(0, Int(((moment - .now) / .seconds(1)).rounded(.up)))
    }
}
