// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import Glibc
import Testing

/// Who passes an answer on says when it came, where its sender did not (RFC 9110 §6.6.1).
@Suite(.blocking) struct `The Date of an answer` {
    private static let old = "Sun, 06 Nov 1994 08:49:37 GMT"

    /// The seconds from one on to the present one, as HTTP writes them.
    private static func seconds(since first: time_t) -> [String] {
        (first...time(nil)).map { second in
            var (second, broken) = (second, tm())
            gmtime_r(&second, &broken)
            var text = [CChar](repeating: 0, count: 64)
            strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &broken)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    @Test func `is put in where the upstream has none, and stays where it has, whatever the versions`() throws
    {
        let http2 = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let fields = stream[":path"]?.hasSuffix("dated") == true ? [("date", Self.old)] : []
            try peer.answer(stream.id, 200, fields, text: "ok")
        }
        let sidecar = try HTTP2Route.sidecar(http2)
        sidecar.upstream.answer { request in
            request.head.target == "/dated" ? .response(200, [("Date", Self.old)], "ok") : .ok()
        }
        try sidecar.awaitToken()
        let start = time(nil)
        let clients = (try sidecar.client(), try HTTP2Client(to: sidecar.bearerd.proxy))
        for path in ["/", "/h2/"] {
            let answer = try clients.0.request("GET", path)
            let dates = answer.head.values("Date")
            #expect(answer.status == 200 && dates.count == 1, "\(answer.head)")
            #expect(Self.seconds(since: start).contains(dates.first ?? ""), "\(answer.head)")
            let other = try clients.1.request("GET", path)
            #expect(other.status == 200 && other.text.isEmpty == false)
            #expect(Self.seconds(since: start).contains(other.head["date"] ?? ""), "\(other.head)")
            #expect(try clients.0.request("GET", path + "dated").head.values("Date") == [Self.old])
            #expect(try clients.1.request("GET", path + "dated").head["date"] == Self.old)
        }
    }

    @Test func `is none of an interim answer's, nor where the route takes it away`() throws {
        let sidecar = try Sidecar(.init(route: "response_headers: {remove: [Date]}"))
        sidecar.upstream.answer { _ in
            .raw(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            )
        }
        let answer = try sidecar.get("/")
        #expect(answer.status == 200 && answer["Date"] == nil)
        #expect(answer.interim.map(\.status) == [103] && answer.interim.first?["Date"] == nil)
    }

    @Test func `is told of the second in which the answer comes`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        let first = try client.request("GET", "/")["Date"]
        let answered = time(nil)
        try eventually("another second") { time(nil) > answered }
        let begun = time(nil)
        let second = try client.request("GET", "/")["Date"]
        #expect(Self.seconds(since: begun).contains(second ?? "") && first != second)
        #expect(try sidecar.admin("GET", "/healthz").head.values("Date").count == 1)
    }

    @Test func `is in the 200 that HTTP2 makes of a 101`() throws {
        let upstream = try RawUpstream { wire in
            let head = try #require(try wire.readHead())
            let proof = WebSocketProof.accept(try #require(head["Sec-WebSocket-Key"]))
            try wire.grantWebSocket([("Sec-WebSocket-Accept", proof)], sending: "x")
            _ = try wire.endsCleanly()
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let fields = client.fields("CONNECT", "/ws", [("sec-websocket-version", "13")])
        let tunnel = try client.begin(
            Array(fields.prefix(4)) + [(":protocol", "websocket")] + fields.dropFirst(4), endsStream: false)
        let head = try client.head(on: tunnel)
        #expect(head[":status"] == "200" && head["date"]?.hasSuffix(" GMT") == true, "\(head)")
    }
}
