// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdJSON
import OAuth
import BearerdObservability
import BearerdSystem

/// Brings spans to a collector: OTLP over HTTP as JSON, in batches.
///
/// Lives on the control loop. What a collector cannot take now is sent again, after `Retry-After` or a back-off; meanwhile
/// spans wait in the queue, and are lost once that is full.
actor TraceExporter: LoopConfined {
    /// Where spans are sent.
    struct Destination: Sendable {
        let url: HTTPURL
        let transport: Transport
        let serviceName: String
    }

    /// What a collector made of a batch.
    private enum Outcome {
        case taken(rejected: Int)
        case refused(String)
        case isBusy(String, retryAfter: Duration?)
    }

    private static let batch = 512
    /// So long spans are gathered before they are sent.
    private static let interval = Duration.seconds(1)
    private static let timeLimit = Duration.seconds(10)
    private static let shortestPause = Duration.milliseconds(200)
    private static let longestPause = Duration.seconds(30)

    nonisolated let loop: EventLoop
    private let queue: SpanQueue
    private let client: TransferClient
    private let log: Log
    /// nil where no configuration in force has a collector: what still comes is lost.
    private var destination: Destination?
    private var isRunning = false
    private var hasFailed = false
    /// Whether the wait that goes on is for a collector that did not take what it was sent.
    private var isBackingOff = false
    /// The wait that goes on.
    private var pause: LoopSleep?
    /// When the process is to be over; nil before it ends.
    private var end: Instant?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ queue: SpanQueue, to destination: Destination, on loop: EventLoop, log: Log) {
        self.queue = queue
        self.destination = destination
        self.loop = loop
        self.log = log
        client = TransferClient(loop: loop)
    }

    /// Sends to another place from here on, or to none; what the one before did not take goes there too.
    func use(_ destination: Destination?) {
        defer { self.destination = destination }
        guard destination?.url != self.destination?.url else { return }
        hasFailed = false
        if isBackingOff { pause?.end() }
    }

    /// Begins to send what waits in the queue.
    func wake() {
        guard !isRunning else { return }
        isRunning = true
        Task(executorPreference: loop) { await self.run() }
    }

    /// Sends what waits without further delay, for the process ends; what a collector refuses after `limit` is not sent again.
    func finish(within limit: Duration) async {
        end = .now + limit
        pause?.end()
        guard isRunning || queue.count > 0 else { return }
        wake()
        await withCheckedContinuation { waiter = $0 }
    }

    private func run() async {
        while queue.count > 0 {
            if queue.count < Self.batch { await wait(Self.interval) }
            await export(queue.next(Self.batch))
        }
        isRunning = false
        waiter?.resume()
        waiter = nil
    }

    /// Sends a batch until it is taken, or lost.
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
                complain(reason, of: destination)
                return queue.drop(spans.count)
            case .isBusy(let reason, let retryAfter):
                complain(reason, of: destination)
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

    /// How many spans of a batch were not taken (`partialSuccess`).
    private static func rejected(in body: [UInt8]) -> Int {
        guard let answer = try? JSONValue(parsing: body),
            let count = answer.object?["partialSuccess"]?.object?["rejectedSpans"]
        else { return 0 }
        let number = count.string.flatMap { Int($0) } ?? count.number.flatMap { Int(exactly: $0) } ?? 0
        return min(max(number, 0), batch)
    }

    /// Once, until it works again.
    private func complain(_ reason: String, of destination: Destination) {
        // What the one before did is no news of the one that is asked now.
        guard !hasFailed, destination.url == self.destination?.url else { return }
        hasFailed = true
        log.warning(
            "traces cannot be exported; spans wait, and are lost when too many do",
            [.endpoint: .string(destination.url.place), .reason: .string(reason)])
    }

    private func wait(_ duration: Duration) async {
        guard end == nil || duration > Self.interval else { return }
        let limit = end.map { min(duration, max(.zero, $0 - .now)) } ?? duration
        let pause = LoopSleep()
        self.pause = pause
        await pause.sleep(until: .now + limit, on: loop)
        self.pause = nil
    }
}
