// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What a collector gets of requests, and what becomes of them when it does not take it.
@Suite(.blocking) struct `A trace` {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    @Test func `has a span for the request, one for each send, and a link from the refresh`() throws {
        let collector = try RawUpstream { _ in .json("{}") }
        let sidecar = try Sidecar(
            environment: ["OTEL_SERVICE_NAME": "fake-service"],
            Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}"))
        try sidecar.awaitToken()
        let first = try #require(sidecar.provider.accessTokens.last)
        sidecar.upstream.answer { $0["authorization"] == "Bearer \(first)" ? .unauthorized : .ok() }
        let fields = [
            ("traceparent", Self.parent), ("tracestate", "vendor=fake-state"), ("Cookie", "fake-cookie"),
        ]
        #expect(try sidecar.get("/a/b?code=fake-code", fields).status == 200)

        let spans = try Self.spans(of: collector, count: 4)
        let server = try #require(spans.first { $0["kind"].number == 2 })
        #expect(server["traceId"].string == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(server["parentSpanId"].string == "00f067aa0ba902b7" && server["name"].string == "GET /")
        #expect(Self.attribute("http.response.status_code", of: server) == "200")
        #expect(Self.attribute("url.path", of: server) == "/a/b")
        #expect(Self.attribute("bearerd.identity", of: server) == "default")
        let sends = spans.filter { $0["parentSpanId"] == server["spanId"] }
        #expect(sends.map { Self.attribute("http.response.status_code", of: $0) } == ["401", "200"])
        #expect(sends.map { Self.attribute("http.request.resend_count", of: $0) } == [nil, "1"])
        let refresh = try #require(spans.first { $0["name"].string == "token request" })
        #expect(refresh["traceId"] != server["traceId"] && refresh["parentSpanId"] == .null)
        #expect(refresh["links"][0]["spanId"] == server["spanId"])

        let told = sidecar.upstream.requests.map { $0.head.values("traceparent") }
        #expect(told == sends.map { ["00-4bf92f3577b34da6a3ce929d0e0e4736-\($0["spanId"].string ?? "")-01"] })
        #expect(sidecar.upstream.requests.allSatisfy { $0["tracestate"] == "vendor=fake-state" })
        let request = try #require(collector.requests.first)
        #expect(request.head.target == "/v1/traces" && request["content-type"] == "application/json")
        let all = collector.requests.map(\.text).joined()
        #expect(all.contains("fake-service"))
        for secret in sidecar.provider.accessTokens + ["fake-code", "fake-cookie", "fake-state", "?"] {
            #expect(!all.contains(secret))
        }
    }

    @Test
    func `blames no upstream for a client that leaves, and tells the status of an answer that breaks off`()
        throws
    {
        let collector = try RawUpstream { _ in .json("{}") }
        let sidecar = try Sidecar(.init(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 1}"))
        try sidecar.awaitToken()
        let gate = Gate()
        defer { gate.open() }
        sidecar.upstream.answer { request in
            request.head.target == "/left"
                ? .ok().held(by: gate)
                : .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", thenClose: true)
        }
        do {
            let client = try sidecar.client()
            try client.send("MKCOL", "/left")
            try sidecar.upstream.request()
            client.wire.close()
        }
        try sidecar.bearerd.logLine("that the client has left") { $0["status"] == "499" }
        let left = try Self.spans(of: collector, count: 3).filter { $0["kind"].number == 3 }
        let send = try #require(left.first { Self.attribute("http.request.method", of: $0) == "_OTHER" })
        #expect(Self.attribute("http.request.method_original", of: send) == "MKCOL")
        #expect(Self.attribute("error.type", of: send) == nil && send["status"]["code"] == .null, "\(send)")
        _ = try? sidecar.get("/cut")
        let cut = try #require(
            try Self.spans(of: collector, count: 5).first {
                Self.attribute("error.type", of: $0) == "truncated" && $0["kind"].number == 3
            })
        #expect(Self.attribute("http.response.status_code", of: cut) == "200")
    }

    @Test func `is none where nobody samples, and what the client says passes on`() throws {
        let collector = try RawUpstream { _ in .json("{}") }
        let sidecar = try Sidecar(
            Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)/\", sample: 0}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.unsampled), ("tracestate", "a=b")]).status == 200)
        #expect(try sidecar.get("/", [("Traceparent", "rubbish"), ("tracestate", "a=b")]).status == 200)
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        let spans = try Self.spans(of: collector, count: 2)
        #expect(spans.count == 2)
        let requests = sidecar.upstream.requests
        #expect(requests[0]["traceparent"] == Self.unsampled && requests[0]["tracestate"] == "a=b")
        #expect(requests[1]["traceparent"] == "rubbish" && requests[1]["tracestate"] == "a=b")
    }

    @Test func `begins anew where what the client says is none`() throws {
        let collector = try RawUpstream { _ in .json("{}") }
        let sidecar = try Sidecar(
            environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url],
            Sidecar.Settings(top: "telemetry: {sample: 1}", route: "allow: [{path: /here/**}]"))
        try sidecar.awaitToken()
        let wrong = [("traceparent", "00-0-0-01"), ("tracestate", "vendor=fake")]
        #expect(try sidecar.get("/here", wrong).status == 200)
        #expect(try sidecar.get("/here", [wrong[0], ("traceparent", Self.parent)]).status == 200)
        #expect(try sidecar.get("/there").status == 403)
        let spans = try Self.spans(of: collector, count: 6)
        let told = sidecar.upstream.requests.map { $0.head.values("traceparent") }
        #expect(told.allSatisfy { $0.count == 1 && !$0[0].contains("4bf92f35") })
        #expect(Set(told.map { $0[0] }).count == 2)
        #expect(sidecar.upstream.requests.allSatisfy { $0["tracestate"] == nil })
        let denied = try #require(
            spans.first { Self.attribute("http.response.status_code", of: $0) == "403" })
        #expect(Self.attribute("error.type", of: denied) == "policy_denied")
    }

    @Test func `is sent again to a collector that is busy or gone, and what it refuses is counted`() throws {
        let collector = try RawUpstream { _ in
            .response(503, [("Retry-After", "0")])
        }
        let sidecar = try Sidecar(
            Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        _ = try collector.request(2)
        try sidecar.bearerd.logLine("why") { $0.message.hasPrefix("traces cannot be exported") }
        collector.answer { _ in .close }
        let asked = collector.requests.count
        _ = try collector.request(asked + 1)
        collector.answer { _ in .json("{}") }
        try sidecar.bearerd.logLine("that it works") { $0.message == "traces are exported again" }
        #expect(try sidecar.metrics().sum("bearerd_trace_spans_dropped_total") == 0)
        collector.answer { _ in .json(#"{"partialSuccess":{"rejectedSpans":"2"}}"#) }
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        try eventually("what was rejected") {
            try sidecar.metrics().sum("bearerd_trace_spans_dropped_total") == 2
        }
        collector.answer { _ in .response(400) }
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        try eventually("what was refused") {
            try sidecar.metrics().sum("bearerd_trace_spans_dropped_total") == 4
        }
        let lines = sidecar.bearerd.logLines.map(\.message).filter { $0.hasPrefix("traces cannot be") }
        #expect(lines.count == 2 && lines.last?.hasSuffix("spans are lost") == true, "\(lines)")
    }

    @Test func `is taken where the status says so, however long the rest of the answer`() throws {
        let collector = try RawUpstream { _ in .ok(String(repeating: "x", count: 100_000)) }
        let sidecar = try Sidecar(
            Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}"))
        try sidecar.awaitToken()
        for count in [2, 4] {
            #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
            let identifiers = try Self.spans(of: collector, count: count).map { $0["spanId"].string }
            #expect(Set(identifiers).count == count, "none comes twice")
        }
    }

    @Test func `is told each second while the collector alone is waited for at the end`() throws {
        let gate = Gate()
        defer { gate.open() }
        let collector = try RawUpstream { _ in Reply.json("{}").held(by: gate) }
        let sidecar = try Sidecar(
            Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        sidecar.bearerd.process.signal(SIGTERM)
        let line = try sidecar.bearerd.logLine("the wait") { $0.message.hasPrefix("draining: waiting") }
        #expect(line.message.contains("for the collector") && line["connections"] == nil, "\(line.json)")
        gate.open()
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `is flushed at the end, and a mute collector holds that up no longer than the grace`() throws {
        let collector = try RawUpstream { _ in .json("{}") }
        let settings = Sidecar.Settings(
            top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}\nshutdown: {grace: 1s}")
        let sidecar = try Sidecar(settings)
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        #expect(try Self.spans(of: collector, count: 2).count == 2)

        let gate = Gate()
        defer { gate.open() }
        collector.answer { _ in Reply.json("{}").held(by: gate) }
        let other = try Sidecar(settings)
        try other.awaitToken()
        #expect(try other.get("/", [("traceparent", Self.parent)]).status == 200)
        #expect(try other.get("/").status == 200)
        #expect(try other.bearerd.terminate() == .exited(0))
    }

    @Test func `goes over TLS, to whom the system's authorities vouch for`() throws {
        let authority = try TLSAuthority()
        let collector = try RawUpstream(tls: authority.server()) { _ in .json("{}") }
        let settings = Sidecar.Settings(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 0}")
        let sidecar = try Sidecar(environment: ["SSL_CERT_FILE": authority.certificateFile], settings)
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        #expect(try Self.spans(of: collector, count: 2).count == 2)

        let stranger = try TLSAuthority()
        let doubting = try Sidecar(environment: ["SSL_CERT_FILE": stranger.certificateFile], settings)
        try doubting.awaitToken()
        #expect(try doubting.get("/", [("traceparent", Self.parent)]).status == 200)
        let line = try doubting.bearerd.logLine("why not") {
            $0.message.hasPrefix("traces cannot be exported")
        }
        #expect(
            line["reason"]?.contains("certificate") == true
                && line["endpoint"] == "\(collector.url)/v1/traces")
        #expect(try Self.spans(of: collector, count: 2).count == 2)
    }

    @Test func `asks a busy collector a few times and not without pause while the daemon ends`() throws {
        let collector = try RawUpstream { _ in .response(503, [("Retry-After", "1")]) }
        let sidecar = try Sidecar(.init(top: "telemetry: {otlp_endpoint: \"\(collector.url)\", sample: 1}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/").status == 200)
        try sidecar.bearerd.logLine("that it is busy") { $0.message.hasPrefix("traces cannot") }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        #expect(collector.requests.count < 50)
    }

    @Test func `follows a reload that turns tracing on, moves it and turns it off`() throws {
        let (mute, busy, last) = (
            try RawUpstream { _ in .json("{}") },
            try RawUpstream { _ in .response(503, [("Retry-After", "300")]) },
            try RawUpstream { _ in .json("{}") }
        )
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        func reload(_ collector: RawUpstream?) throws {
            let top = collector.map { "telemetry: {otlp_endpoint: \"\($0.url)\", sample: 0}" } ?? ""
            try sidecar.directory.write(
                "config.yaml",
                Sidecar.configuration(
                    provider: sidecar.provider, upstream: sidecar.upstream.url,
                    clientSecret: sidecar.clientSecret, directory: sidecar.directory, .init(top: top)))
            #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        }
        func isTraced() throws -> Bool {
            #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
            return sidecar.upstream.requests.last?["traceparent"] != Self.parent
        }
        #expect(try !isTraced())
        try reload(mute)
        #expect(try isTraced())
        #expect(try Self.spans(of: mute, count: 2).count == 2)
        try reload(busy)
        #expect(try isTraced())
        let line = try sidecar.bearerd.logLine("that it is busy") { $0.message.hasPrefix("traces cannot") }
        #expect(line["endpoint"] == "\(busy.url)/v1/traces")
        // What waits for a collector does not wait for one that is no longer asked.
        try reload(last)
        #expect(try isTraced())
        #expect(try Self.spans(of: last, count: 4).count == 4)
        try reload(nil)
        #expect(try !isTraced())
        try reload(last)
        #expect(try isTraced())
        #expect(try Self.spans(of: last, count: 6).count == 6)
        #expect(mute.requests.count == 1)
        #expect(try sidecar.metrics().sum("bearerd_trace_spans_dropped_total") == 0)
    }

    @Test func `is lost where tracing is turned off before a collector took it`() throws {
        let busy = try RawUpstream { _ in .response(503, [("Retry-After", "300")]) }
        let sidecar = try Sidecar(.init(top: "telemetry: {otlp_endpoint: \"\(busy.url)\", sample: 0}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("traceparent", Self.parent)]).status == 200)
        _ = try busy.request()
        try sidecar.directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: sidecar.provider, upstream: sidecar.upstream.url,
                clientSecret: sidecar.clientSecret, directory: sidecar.directory))
        try sidecar.bearerd.logLine("that it is busy") { $0.message.hasPrefix("traces cannot") }
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        try eventually("what is lost") {
            try sidecar.metrics().sum("bearerd_trace_spans_dropped_total") == 2
        }
    }

    @Test(arguments: [
        ("telemetry: {otlp_endpoint: ftp://x}", "telemetry.otlp_endpoint"),
        ("telemetry: {otlp_endpoint: \"http://x?y\"}", "without a query"),
        ("telemetry: {sample: 1.5}", "a number from 0 to 1"), ("telemetry: {sample: 1e1}", "from 0 to 1"),
        ("telemetry: {samples: 1}", "did you mean 'sample'?"),
        ("log: {access_fields: [stats]}", "did you mean 'status'?"),
        ("log: {access_fields: []}", "access: false"),
        ("audit: {}", "audit.file"),
    ])
    func `and what else is told are configured without doubt`(top: String, words: String) throws {
        let result = try Sidecar.check(Sidecar.Settings(top: top))
        #expect(result.exit == 78)
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    /// The spans that a collector has got, once there are so many.
    private static func spans(of collector: RawUpstream, count: Int) throws -> [TestJSON] {
        var spans: [TestJSON] = []
        try eventually("\(count) spans") {
            spans = collector.requests.flatMap { request in
                TestJSON(parsing: request.text)?["resourceSpans"][0]["scopeSpans"][0]["spans"].array ?? []
            }
            return spans.count >= count
        }
        return spans
    }

    private static func attribute(_ key: String, of span: TestJSON) -> String? {
        let value = span["attributes"].array.first { $0["key"].string == key }?["value"]
        return value?["stringValue"].string ?? value?["intValue"].string
    }
}
