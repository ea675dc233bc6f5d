// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdObservability
import BearerdSystem
import OAuth
import Synchronization

/// The traces of a process, recorded by its workers and sessions and sent to the collector.
///
/// It is made for the first configuration with a collector.
final class Tracing: Sendable {
    /// The token requests in flight.
    private struct State {
        var random = SpanRandom()
        /// The start of each identity's request, on two clocks.
        var begun: [String: (wall: Duration, at: Instant)] = [:]
        var sample = TracingSettings?.none
    }

    private let queue: SpanQueue
    private let links = RefreshLinks()
    private let exporter: TraceExporter
    private let loop: EventLoop
    private let state = Mutex(State())

    /// - Parameters:
    ///   - configuration: the share of requests to record.
    ///   - destination: the collector.
    ///   - loop: the control loop.
    init(
        _ configuration: TelemetryConfiguration, sendingTo destination: TraceExporter.Destination,
        on loop: EventLoop, log: Log
    ) {
        let bell = Bell()
        queue = SpanQueue { bell.ring() }
        exporter = TraceExporter(queue, to: destination, on: loop, log: log)
        self.loop = loop
        let settings = settings(of: configuration)
        state.withLock { $0.sample = settings }
        bell.use { [exporter] in Task(executorPreference: loop) { await exporter.wake() } }
    }

    /// The workers' settings under a configuration; nil if it has no collector.
    func settings(of configuration: TelemetryConfiguration) -> TracingSettings? {
        guard configuration.tracesEndpoint != nil else { return nil }
        return TracingSettings(queue: queue, links: links, sample: configuration.sample)
    }

    /// Applies a configuration; call it on the control loop.
    ///
    /// - Parameters:
    ///   - configuration: the share of requests to record.
    ///   - destination: the collector; nil if the configuration has none.
    func use(_ configuration: TelemetryConfiguration, sendingTo destination: TraceExporter.Destination?) {
        let settings = settings(of: configuration)
        state.withLock { $0.sample = settings }
        exporter.assumeIsolated { $0.use(destination) }
    }

    /// The number of lost spans.
    var dropped: Int { queue.dropped }

    /// Sends the queued spans because the process ends; those that are not accepted within `limit` are lost.
    func finish(within limit: Duration) async {
        let count = TimedCount()
        Task(executorPreference: loop) { [exporter] in
            await exporter.finish(within: limit)
            count.finishedOne()
        }
        _ = await count.wait(for: 1, atMost: limit, on: loop)
        queue.drop(queue.next(.max).count)
    }

    // MARK: Token requests

    /// Notes the start of an identity's token request.
    func tokenRequestBegan(of identity: String) {
        state.withLock { $0.begun[identity] = (WallClock.sinceEpoch, .now) }
    }

    /// Records a span for a token request that has ended, with links to the requests that wait for it.
    func tokenRequestEnded(of identity: String, _ grant: GrantType, _ failure: TokenFailure?) {
        let waiting = links.waiting(for: identity)
        let span = state.withLock { state -> TraceSpan? in
            guard let (wall, start) = state.begun.removeValue(forKey: identity), let sample = state.sample
            else {
                return nil
            }
            guard !waiting.isEmpty || sample.samples(state.random.next()),
                let context = TraceContext(
                    traceID: (state.random.nextIdentifier(), state.random.next()),
                    spanID: state.random.nextIdentifier(), isSampled: true)
            else { return nil }
            let outcome = failure?.kind.rawValue ?? "success"
            var attributes: [(key: SpanKey, value: TraceSpan.Value)] = [
                (.identity, .text(identity)), (.grant, .text(grant.shortName)), (.outcome, .text(outcome)),
            ]
            if let failure { attributes.append((.errorType, .text(failure.code))) }
            return TraceSpan(
                name: "token request", kind: .client, context: context, start: wall.wholeNanoseconds,
                end: (wall + start.duration(to: .now)).wholeNanoseconds, attributes: attributes,
                links: waiting, isError: failure != nil)
        }
        if let span { queue.take([span]) }
    }
}

/// Calls an action that is set later, because the queue is made before the exporter.
private final class Bell: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    func use(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    func ring() { action.withLock { $0 }?() }
}

extension TelemetryConfiguration {
    /// The collector; nil if none is configured.
    func destination(trust: TrustStores) throws(TrustStore.LoadError) -> TraceExporter.Destination? {
        guard let url = tracesEndpoint else { return nil }
        let transport = Transport(trust: url.scheme == .https ? try trust.store(caFile: nil) : nil)
        return TraceExporter.Destination(url: url, transport: transport, serviceName: serviceName)
    }
}
