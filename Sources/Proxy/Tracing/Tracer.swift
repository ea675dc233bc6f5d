// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability

/// Decides which of a worker's requests are traced.
struct Tracer {
    let settings: TracingSettings
    private var random = SpanRandom()

    init(_ settings: TracingSettings) { self.settings = settings }

    /// Begins a trace if the client's `traceparent` is sampled, or else as often as configured.
    mutating func begin(_ fields: HTTPFields, at start: ContinuousClock.Instant) -> RequestTrace? {
        var parent: TraceContext?
        if fields.contains(.traceparent), fields.count(of: .traceparent) == 1 {
            parent = fields.bytes(of: .traceparent).flatMap { TraceContext(traceparent: $0.span) }
        }
        guard parent?.isSampled == true || settings.samples(random.next()) else { return nil }
        let traceID = parent?.traceID ?? (random.nextIdentifier(), random.next())
        guard
            let context = TraceContext(traceID: traceID, spanID: random.nextIdentifier(), isSampled: true)
        else { return nil }
        return RequestTrace(context, parent: parent?.spanID, hasForeignState: parent == nil, at: start)
    }

    /// Makes an identifier for another span.
    mutating func nextIdentifier() -> UInt64 { random.nextIdentifier() }
}

extension HTTPFields.Name {
    /// W3C Trace Context §3.2, §3.3.
    static let traceparent = HTTPFields.Name(known: "traceparent")
    static let tracestate = HTTPFields.Name(known: "tracestate")
}
