// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdJSON
import BearerdObservability
import BearerdSystem
import OAuth

/// Sends spans to a collector in batches: OTLP over HTTP as JSON.
///
/// It lives on the control loop. A batch that the collector cannot take is sent again after `Retry-After` or
/// a back-off. Meanwhile spans wait in the queue, and are lost once it is full.
actor TraceExporter: LoopConfined {
    /// The collector.
    struct Destination: Sendable {
        let url: HTTPURL
        let transport: Transport
        let serviceName: String
    }

    /// The collector's answer to a batch.
    private enum Outcome {
        case taken(rejected: Int)
        case refused(String)
        case isBusy(String, retryAfter: Duration?)
    }

    private static let batch = 512
    /// How long spans are collected before they are sent.
    private static let interval = Duration.seconds(1)
    private static let timeLimit = Duration.seconds(10)
    private static let shortestPause = Duration.milliseconds(200)
    private static let longestPause = Duration.seconds(30)

    nonisolated let loop: EventLoop
    private let queue: SpanQueue
    private let client: TransferClient
    private let log: Log
    /// The collector; nil while no configuration has one, and spans are lost.
    private var destination: Destination?
    private var isRunning = false
    private var hasFailed = false
    /// True while waiting for a collector that did not take a batch.
    private var isBackingOff = false
    /// The current wait.
    private var pause: LoopSleep?
    /// When the process must end; nil until it is ending.
    private var end: Instant?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ queue: SpanQueue, to destination: Destination, on loop: EventLoop, log: Log) {
        self.queue = queue
        self.destination = destination
        self.loop = loop
        self.log = log
        client = TransferClient(loop: loop)
    }

    /// Replaces the collector; a batch that the previous one did not take is sent to the new one.
    func use(_ destination: Destination?) {
        defer { self.destination = destination }
        guard destination?.url != self.destination?.url else { return }
        hasFailed = false
        if isBackingOff { pause?.end() }
    }

    /// Starts to send the queued spans.
    func wake() {
        guard !isRunning else { return }
        isRunning = true
        Task(executorPreference: loop) { await self.run() }
    }

    /// Sends the queued spans without delay because the process ends; nothing is sent again after `limit`.
    func finish(within limit: Duration) async {
        end = .now + limit
        pause?.end()
        guard isRunning || queue.count > 0 else { return }
        wake()
        await withCheckedContinuation { waiter = $0 }
    }

    private func run() async {
        while queue.count > 0 {
            if queue.count < Self.batch, end == nil { await wait(Self.interval) }
            await export(queue.next(Self.batch))
        }
        isRunning = false
        waiter?.resume()
        waiter = nil
    }

    /// Sends a batch until it is accepted or lost.
    private func export(_ spans: [TraceSpan]) async {
        var delay = Duration.seconds(1)
        while let destination {
            let body = TraceDocument.bytes(
                of: spans, service: destination.serviceName, version: Version.text)
            switch await send(body, to: destination) {
            case .taken(let rejected):
                queue.drop(rejected)
                if hasFailed {
                    log.notice("traces are exported again", [.endpoint: .string(destination.url.place)])
                }
                hasFailed = false
                return
            case .refused(let reason):
                complain("traces cannot be exported; spans are lost", reason, of: destination)
                return queue.drop(spans.count)
            case .isBusy(let reason, let retryAfter):
                complain(
                    "traces cannot be exported; spans wait, and are lost when too many do", reason,
                    of: destination)
                let wanted = max(retryAfter ?? delay, Self.shortestPause)
                if let end, end <= .now + wanted { return queue.drop(spans.count) }
                isBackingOff = true
                await wait(wanted)
                isBackingOff = false
                delay = min(delay * 2, Self.longestPause)
            }
        }
        queue.drop(spans.count)
    }

    private func send(_ body: [UInt8], to destination: Destination) async -> Outcome {
        var request = TransferRequest(
            method: .post, url: destination.url, body: body, timeLimit: Self.timeLimit,
            maximumAnswerBytes: 65_536)
        request.fields[.contentType] = "application/json"
        // The status tells whether it took the batch, however long the rest is.
        request.keepsPartialAnswer = true
        if let end { request.timeLimit = max(.milliseconds(1), min(Self.timeLimit, end - .now)) }
        do throws(TransferError) {
            return outcome(of: try await client.send(request, over: destination.transport))
        } catch {
            // It has no answer to read, and may have taken the batch: twice is better than never.
            return .isBusy(error.reason, retryAfter: nil)
        }
    }

    private func outcome(of response: TransferResponse) -> Outcome {
        switch response.status {
        case 200..<300: .taken(rejected: Self.rejected(in: response.body))
        case 429, 502, 503, 504:
            .isBusy(
                "the collector answers \(response.status)",
                retryAfter: RetryAfter.delay(
                    in: response.fields, wall: WallTime(sinceEpoch: WallClock.sinceEpoch)))
        default: .refused("the collector answers \(response.status)")
        }
    }

    /// The number of rejected spans (`partialSuccess`).
    private static func rejected(in body: [UInt8]) -> Int {
        guard let answer = try? JSONValue(parsing: body),
            let count = answer.object?["partialSuccess"]?.object?["rejectedSpans"]
        else { return 0 }
        let number = count.string.flatMap { Int($0) } ?? count.number.flatMap { Int(exactly: $0) } ?? 0
        return min(max(number, 0), batch)
    }

    /// Logs a failure once, until sending works again.
    private func complain(_ message: StaticString, _ reason: String, of destination: Destination) {
        // The failures of the previous collector say nothing about this one.
        guard !hasFailed, destination.url == self.destination?.url else { return }
        hasFailed = true
        log.warning(
            message, [.endpoint: .string(destination.url.place), .reason: .string(reason)])
    }

    private func wait(_ duration: Duration) async {
        let limit = end.map { min(duration, max(.zero, $0 - .now)) } ?? duration
        let pause = LoopSleep()
        self.pause = pause
        await pause.sleep(until: .now + limit, on: loop)
        self.pause = nil
    }
}
