// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPExchange
internal import HTTPMessages
internal import Observability
internal import System

/// Counts what a worker does and writes its access lines.
///
/// Confined to its loop's thread.
final class Recorder {
    /// Lines are written in batches, at the latest this long after the first of them.
    private static let flushInterval = Duration.milliseconds(100)

    /// What is counted of no route.
    var metrics = WorkerMetrics()
    /// By the routes' names; none ever goes.
    var tallies: [String: RouteTally] = [:]
    private let noRoute = RouteTally.forNoRoute()
    private var requestIDs = RequestIDs()
    private var accessLog: AccessLog
    private var format: LogFormat
    private var sink: (any LineSink)?
    private let loop: EventLoop
    private var flushIsDue = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in flush() }  // it goes with us

    init(loop: EventLoop, snapshot: RoutingSnapshot) {
        self.loop = loop
        sink = snapshot.accessLog
        format = snapshot.logFormat
        accessLog = AccessLog(format: format)
    }

    /// Writes as `snapshot` has it from here on.
    func use(_ snapshot: RoutingSnapshot) {
        flush()
        sink = snapshot.accessLog
        guard snapshot.logFormat != format else { return }
        format = snapshot.logFormat
        accessLog = AccessLog(format: format)
    }

    /// What was counted so far, but for connections to upstreams.
    var counts: WorkerMetrics {
        var counts = metrics
        counts.add(noRoute)
        for tally in tallies.values { counts.add(tally) }
        return counts
    }

    /// Gives a message that has no identifier one of its own.
    func identify(_ fields: inout HTTPFields) { requestIDs.identify(&fields) }

    /// Counts a request and writes its line.
    func record<Client, Pool>(_ exchange: Exchange<Client, Pool>) {
        let duration = exchange.record.startedAt.duration(to: .now)
        let tally = exchange.route?.tally ?? noRoute
        tally.countRequest(status: exchange.record.status, duration: duration)
        guard sink != nil else { return }
        let client = exchange.client
        let record = AccessRecord(
            unixMilliseconds: WallClock.unixMilliseconds, duration: duration,
            method: client.request.method.rawValue, status: exchange.record.status,
            code: exchange.record.code, bytesIn: client.incoming.byteCount,
            bytesOut: exchange.record.bytesOut,
            isReplayed: exchange.record.isReplayed, peer: client.peer.text)
        let target = exchange.originalTarget.isEmpty ? client.request.targetBytes : exchange.originalTarget
        if !client.request.fields.has(.xRequestID) {  // it was refused before one was made
            identify(&client.request.fields)
        }
        let identifier = client.request.fields.bytes(of: .xRequestID) ?? []
        accessLog.append(
            record, route: tally.loggedName, target: target.span, requestID: identifier.span)
        if accessLog.isFull {
            flush()
        } else if !flushIsDue {
            flushIsDue = true
            timer.set(after: Self.flushInterval)
        }
    }

    /// Writes the lines that wait.
    func flush() {
        flushIsDue = false
        guard let sink else { return }
        accessLog.flush(to: sink)
    }
}
