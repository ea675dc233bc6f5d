// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting
internal import BearerdSystem
internal import OAuth

/// The status in the log of a request whose client has gone: nobody got an answer.
private let clientGone = 499

/// Counts a worker's requests and writes its audit and access lines.
///
/// Confined to its loop's thread.
final class Recorder {
    /// The longest delay of a line, because lines are written in batches.
    private static let flushInterval = Duration.milliseconds(100)

    /// The counts that belong to no route.
    var metrics: WorkerMetrics {
        @inline(__always)
        _read { yield counted.value }
        @inline(__always)
        _modify { yield &counted.value }
    }
    private let counted = Exclusive(WorkerMetrics())
    /// The counts for each route's name; entries are never removed.
    var tallies: [String: RouteTally] = [:]
    private let noRoute = RouteTally.forNoRoute()
    private let noRouteName = LoggedRoute(WorkerMetrics.noRoute)
    private let requestIDs = Exclusive(RequestIDs())
    private let accessLog: Exclusive<AccessLog>
    private var style: AccessLogStyle
    private var sink: (any LineSink)? { didSet { writesLines = sink != nil } }
    /// True if there is a ``sink``, kept here because asking for it copies it.
    private var writesLines = false
    /// The lines that are not written yet; nil until a snapshot has an audit.
    private var audit: AuditLog? { didSet { hasAudit = audit != nil } }
    private var hasAudit = false
    /// The output of the present snapshot; nil without an audit.
    private var auditSink: (any AuditSink)?
    private let loop: EventLoop
    private var flushIsDue = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in flush() }  // `self` owns it

    init(loop: EventLoop, snapshot: RoutingSnapshot) {
        self.loop = loop
        sink = snapshot.accessLog
        writesLines = sink != nil
        style = snapshot.accessStyle
        accessLog = Exclusive(AccessLog(format: style.format, fields: style.fields))
        useAudit(snapshot.audit)
    }

    /// Applies the log settings of a new snapshot.
    func use(_ snapshot: RoutingSnapshot) {
        flush()
        sink = snapshot.accessLog
        useAudit(snapshot.audit)
        guard snapshot.accessStyle != style else { return }
        style = snapshot.accessStyle
        accessLog.value = AccessLog(format: style.format, fields: style.fields)
    }

    private func useAudit(_ sink: (any AuditSink)?) {
        auditSink = sink
        // It stays for the requests that began with one.
        if sink != nil, audit == nil { audit = AuditLog() }
    }

    /// All counts so far, except connections to upstreams.
    var counts: WorkerMetrics {
        var counts = metrics
        counts.add(noRoute)
        for tally in tallies.values { counts.add(tally) }
        return counts
    }

    /// Ends a step of the traffic's history.
    func endStep() {
        noRoute.endStep()
        for tally in tallies.values { tally.endStep() }
    }

    /// Gives a message without an `X-Request-Id` a new one.
    func identify(_ fields: inout HTTPFields) { requestIDs.value.identify(&fields) }

    /// The counts to which a request belongs.
    func tally<Client, Kinds>(of exchange: Exchange<Client, Kinds>) -> RouteTally {
        exchange.route?.tally ?? noRoute
    }

    /// Counts a finished request and writes its access line.
    func record<Client, Kinds>(_ exchange: Exchange<Client, Kinds>) {
        let duration = exchange.record.startedAt.duration(to: .now)
        let (status, hasFailed) = (exchange.record.status, exchange.record.hasFailed)
        if let route = exchange.route {
            route.tally.countRequest(status: status, duration: duration)
            if status != clientGone {
                let second = CoarseInstant.second
                route.answers.count(failed: hasFailed, at: second)
                if hasFailed { route.shared.judge.failed(at: second) }
            }
        } else {
            noRoute.countRequest(status: status, duration: duration)
        }
        if hasAudit { recordForAudit(exchange) }
        guard writesLines else { return }
        write(exchange, &exchange.client.request, after: duration)
        if accessLog.value.isFull { flush() } else { flushSoon() }
    }

    /// Writes the line of a request whose head is lent.
    private func write<Client, Kinds>(
        _ exchange: Exchange<Client, Kinds>, _ request: inout HTTPRequest, after duration: Duration
    ) {
        let client = exchange.client
        if !request.fields.has(.xRequestID) {  // it was refused before one was made
            identify(&request.fields)
        }
        let abortReason = exchange.record.abortReason
        let record = AccessRecord(
            unixMilliseconds: WallClock.unixMilliseconds, duration: duration,
            method: request.method.rawValue, protocolName: request.version.name,
            status: exchange.record.status, grpcStatus: exchange.record.grpcStatus,
            code: abortReason?.word ?? "",
            bytesIn: client.incoming.byteCount, bytesOut: exchange.record.bytesOut,
            isReplayed: exchange.record.isReplayed, peer: client.peer.text)
        let target = exchange.originalTarget.isEmpty ? request.targetBytes : exchange.originalTarget
        accessLog.value.append(
            record, route: exchange.route?.plan.loggedName ?? noRouteName, target: target.span,
            requestID: request.fields.block.bytes.span.extracting(request.fields.firstRange(of: .xRequestID)))
    }

    /// Records which token served whom, if the request carried one.
    private func recordForAudit<Client, Kinds>(_ exchange: Exchange<Client, Kinds>) {
        guard auditSink != nil || exchange.routing.isAudited, let token = exchange.token,
            let route = exchange.route, let session = route.plan.session
        else { return }
        let client = exchange.client
        var user: UInt32?
        if case .unix(let number, _) = client.peer { user = number }
        let entry = AuditEntry(
            unixMilliseconds: WallClock.unixMilliseconds, peer: client.peer.text, user: user,
            executable: exchange.record.executable, command: exchange.record.command,
            route: route.plan.key.path, method: client.request.method.rawValue, identity: session.identity,
            subject: token.subject,
            generation: token.generation, status: exchange.record.status)
        let target = exchange.originalTarget.isEmpty ? client.request.targetBytes : exchange.originalTarget
        audit?.append(entry, target: target.span)
        guard auditSink != nil else {
            // Only the requests of an earlier snapshot keep its output open.
            if let sink = exchange.routing.audit { audit?.flush(to: sink) }
            return
        }
        if audit?.isFull == true { flush() } else { flushSoon() }
    }

    private func flushSoon() {
        guard !flushIsDue else { return }
        flushIsDue = true
        timer.set(after: Self.flushInterval)
    }

    /// Writes the lines in the buffer.
    func flush() {
        flushIsDue = false
        if let auditSink { audit?.flush(to: auditSink) }
        guard let sink else { return }
        accessLog.value.flush(to: sink)
    }
}

extension HTTPVersion {
    /// The version's name in the access log.
    fileprivate var name: StaticString {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}
