// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdObservability
import Synchronization
import Testing

@Suite struct `A document of traces` {
    @Test func `has what OTLP wants, as OTLP wants it`() throws {
        let context = try #require(TraceContext(traceID: (0, 0xAB), spanID: 0xC, isSampled: true))
        let link = try #require(TraceContext(traceID: (1, 0), spanID: 2, isSampled: true))
        let span = TraceSpan(
            name: "GET /a\"b", kind: .client, context: context, parent: 0xD, start: 1_795_257_954_007_000_001,
            end: 1_795_257_954_007_000_003,
            attributes: [(.status, .number(502)), (.errorType, .text("refused"))],
            links: [link], isError: true)
        let text = String(
            decoding: TraceDocument.bytes(of: [span], service: "my \"app\"", version: "1"), as: UTF8.self)
        #expect(
            text
                == #"{"resourceSpans":[{"resource":{"attributes":["#
                + #"{"key":"service.name","value":{"stringValue":"my \"app\""}},"#
                + #"{"key":"service.version","value":{"stringValue":"1"}}]},"#
                + #""scopeSpans":[{"scope":{"name":"bearerd","version":"1"},"spans":["#
                + #"{"traceId":"000000000000000000000000000000ab","spanId":"000000000000000c","#
                + #""parentSpanId":"000000000000000d","name":"GET /a\"b","kind":3,"#
                + #""startTimeUnixNano":"1795257954007000001","endTimeUnixNano":"1795257954007000003","#
                + #""attributes":[{"key":"http.response.status_code","value":{"intValue":"502"}},"#
                + #"{"key":"error.type","value":{"stringValue":"refused"}}],"#
                + #""links":[{"traceId":"00000000000000010000000000000000","spanId":"0000000000000002"}],"#
                + #""status":{"code":2}}]}]}]}"#)
    }

    @Test func `is made of a queue that is bounded, and counts what it loses`() throws {
        let calls = Mutex(0)
        let queue = SpanQueue(limit: 3) { calls.withLock { $0 += 1 } }
        let context = try #require(TraceContext(traceID: (0, 1), spanID: 1, isSampled: true))
        let span = TraceSpan(name: "a", kind: .server, context: context, start: 1, end: 2)
        queue.take([span, span])
        queue.take([span, span])
        #expect(queue.count == 3 && queue.dropped == 1 && calls.withLock { $0 } == 1)
        #expect(queue.next(2).count == 2 && queue.next(9).count == 1 && queue.next(9).isEmpty)
        queue.take([span])
        #expect(calls.withLock { $0 } == 2)
    }

    @Test(arguments: [(0.0, 0..<1), (1.0, 10_000..<10_001), (0.1, 800..<1200)])
    func `has the share of requests that is configured`(sample: Double, expected: Range<Int>) {
        let settings = TracingSettings(queue: SpanQueue {}, links: RefreshLinks(), sample: sample)
        var random = SpanRandom()
        #expect(expected.contains((0..<10_000).count { _ in settings.samples(random.next()) }))
    }
}
