// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Glibc
import Testing

@Suite(.blocking) struct `A transfer` {
    @Test func `a form is posted as given and the answer comes back whole`() async throws {
        let provider = try RawUpstream { _ in
            .response(400, [("X-One", "a"), ("x-two", " b "), ("X-One", "c")], #"{"error":"invalid_grant"}"#)
        }
        var request = TransferRequest(method: .post, url: try url(provider.url + "/token?x=1"))
        request.fields.append(.contentType, "application/x-www-form-urlencoded")
        request.fields.append(.authorization, "Basic abc")
        request.body = Array("grant_type=client_credentials".utf8)
        let answer = try await send(request)
        #expect(answer.status == 400)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"error":"invalid_grant"}"#)
        let one = try #require(HTTPFields.Name("x-one"))
        #expect(answer.fields.values(of: one) == ["a", "c"])
        #expect(answer.fields[try #require(HTTPFields.Name("X-Two"))] == "b")

        let seen = try provider.request()
        #expect(seen.head.startLine == "POST /token?x=1 HTTP/1.1")
        #expect(seen["Authorization"] == "Basic abc")
        #expect(seen["Expect"] == nil)
        #expect(seen.head.values("Content-Type") == ["application/x-www-form-urlencoded"])
        #expect(seen.text == "grant_type=client_credentials")
    }

    @Test(arguments: [HTTPMethod.get, .post, .delete, .put, .head])
    func `every method arrives as itself, with or without a body`(method: HTTPMethod) async throws {
        let provider = try RawUpstream()
        let answer = try await send(TransferRequest(method: method, url: url(provider.url)))
        #expect(answer.status == 200)
        let seen = try provider.request()
        #expect(seen.head.method == method.rawValue)
        #expect(seen["Content-Type"] == nil)
        #expect(seen.body.isEmpty)
    }

    @Test func `a redirect is an answer like any other`() async throws {
        let provider = try RawUpstream { request in
            .response(307, [("Location", "http://127.0.0.1/elsewhere")])
        }
        let answer = try await send(TransferRequest(method: .post, url: url(provider.url)))
        #expect(answer.status == 307)
        #expect(answer.fields[.location] == "http://127.0.0.1/elsewhere")
        #expect(provider.requests.count == 1)
    }

    @Test func `interim answers are passed over, with their fields`() async throws {
        let provider = try RawUpstream { _ in
            .raw("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let answer = try await send(TransferRequest(url: url(provider.url)))
        #expect(answer.status == 200)
        #expect(answer.fields.count == 1)
    }

    @Test func `an answer in several TLS records arrives whole, however they come`() async throws {
        let authority = try TLSAuthority()
        let body = String(repeating: "x", count: 10)
        let provider = try RawUpstream(tls: authority.server()) { wire in
            _ = try wire.readRequest()
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            try wire.send(body)
            // Only silence follows, so nothing wakes who left a record unread.
            _ = try? wire.readRequest()
        }
        let trust = try TrustStore(file: authority.certificateFile)
        for _ in 0..<30 {
            var request = TransferRequest(url: try url(provider.url))
            request.timeLimit = .seconds(5)
            #expect(try await send(request, over: Transport(trust: trust)).body.count == 10)
        }
    }

    @Test func `our certificate is shown as it was read last, whatever its files have become`() async throws {
        let authority = try TLSAuthority()
        let provider = try RawUpstream(tls: authority.server(clientAuthority: authority.certificateFile))
        let client = try authority.client()
        let directory = try TemporaryDirectory()
        let certificate = try directory.write(
            "client.pem", bytes: TemporaryDirectory.contents(of: client.certificateFile))
        let key = try directory.write("client.key", bytes: TemporaryDirectory.contents(of: client.keyFile))
        let own = OwnCertificate(certificateFile: certificate, keyFile: key)
        let transport = Transport(trust: try TrustStore(file: authority.certificateFile), ownCertificate: own)
        let request = TransferRequest(url: try url(provider.url))
        await #expect(throws: TransferError.notConnected(.clientCertificate(.unusable))) {
            try await send(request, over: transport)
        }
        #expect(own.read())
        // Like a file system that does not answer: who opened one of them would stand still.
        for file in [certificate, key] {
            unlink(file)
            #expect(mkfifo(file, 0o600) == 0)
        }
        #expect(try await send(request, over: transport).status == 200)
    }

    @Test func `an answer larger than allowed is cut off`() async throws {
        let body = String(repeating: "x", count: 4_000)
        let provider = try RawUpstream { _ in .ok(body) }
        var request = TransferRequest(url: try url(provider.url))
        request.maximumAnswerBytes = 3_999
        await #expect(throws: TransferError.tooLarge) { try await send(request) }
        request.maximumAnswerBytes = 4_000
        #expect(try await send(request).body.count == 4_000)
    }

    @Test func `of an answer that was cut off comes what there is, where that is wanted`() async throws {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        for (reply, cutOff) in [
            (Reply.raw(half, thenClose: true), TransferError.interrupted), (.raw(half), .timedOut),
            (.ok("halfwhole"), .tooLarge),
        ] {
            let provider = try RawUpstream { _ in reply }
            var request = TransferRequest(url: try url(provider.url), timeLimit: .milliseconds(500))
            request.maximumAnswerBytes = cutOff == .tooLarge ? 4 : 9
            await #expect(throws: cutOff) { try await send(request) }
            request.keepsPartialAnswer = true
            let answer = try await send(request)
            #expect(answer.status == 200 && answer.body == Array("half".utf8) && answer.cutOff == cutOff)
        }
        let provider = try RawUpstream { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", thenClose: true)
        }
        var request = TransferRequest(url: try url(provider.url))
        request.keepsPartialAnswer = true
        await #expect(throws: TransferError.interrupted) { try await send(request) }
    }

    /// Some servers name a character set where RFC 9110 has a coding.
    @Test(arguments: ["identity", "utf-8"])
    func `no content coding is asked for, and what is named as one does not matter`(
        coding: String
    ) async throws {
        let provider = try RawUpstream { _ in .encoded(coding, Array("plain".utf8)) }
        let answer = try await send(TransferRequest(method: .post, url: url(provider.url)))
        #expect(answer.body == Array("plain".utf8))
        #expect(try provider.request()["Accept-Encoding"] == "identity")
        var request = TransferRequest(url: try url(provider.url))
        request.fields.append(.acceptEncoding, "gzip")
        _ = try await send(request)
        #expect(provider.requests.last?["Accept-Encoding"] == "gzip")
    }

    @Test func `a head larger than 64 KiB is cut off`() async throws {
        let lines = String(repeating: "X-Filler: \(String(repeating: "y", count: 1_000))\r\n", count: 70)
        let provider = try RawUpstream { _ in .raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n") }
        await #expect(throws: TransferError.tooLarge) {
            try await send(TransferRequest(url: url(provider.url)))
        }
    }

    @Test func `a dripping answer is cut off when its time is over`() async throws {
        let provider = try RawUpstream { _ in
            .dripping("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", every: .milliseconds(20))
        }
        let request = TransferRequest(url: try url(provider.url), timeLimit: .milliseconds(200))
        await #expect(throws: TransferError.timedOut) { try await send(request) }
        try provider.awaitNoConnections()
    }

    @Test func `a request that is on its way may take longer`() async throws {
        let provider = try RawUpstream { _ in
            .dripping("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", every: .milliseconds(10))
        }
        var request = TransferRequest(url: try url(provider.url), timeLimit: .milliseconds(200))
        request.sentTimeLimit = patience
        #expect(try await send(request).body == Array("hello".utf8))
        request.sentTimeLimit = .milliseconds(250)
        await #expect(throws: TransferError.timedOut) { try await send(request) }
        try provider.awaitNoConnections()
    }

    @Test func `getting there may not, TLS included`() async throws {
        let (mute, address) = try Socket.listening()
        var request = TransferRequest(url: try url("https://\(address)"), timeLimit: .milliseconds(200))
        request.sentTimeLimit = .seconds(3600)
        await #expect(throws: TransferError.notConnected(.greetingTimeout(of: .tls))) {
            try await send(request, over: Transport(trust: TrustStore.system()))
        }
        withExtendedLifetime(mute) {}
    }

    @Test(arguments: [true, false])
    func `a request that may not be sent any more when TLS stands is withheld`(isLate: Bool) async throws {
        let provider = try TrustedAuthority()
        let server = try RawUpstream(tls: provider.authority.server())
        let relay = try HoldingRelay(to: server.address)
        let maySend = Monitor(true)
        var request = TransferRequest(method: .post, url: try url("https://localhost:\(relay.port)/token"))
        request.body = Array("refresh_token=spent".utf8)
        request.maySend = { maySend.withLock { $0 } }
        let task = Task { [request] in try await send(request, over: Transport(trust: provider.trust)) }
        try relay.isGreeted.pass()
        if isLate { maySend.withLock { $0 = false } }
        relay.mayPass.open()
        if isLate {
            await #expect(throws: TransferError.withheld) { try await task.value }
            try server.awaitNoConnections()
        } else {
            #expect(try await task.value.status == 200)
        }
        #expect(server.requests.count == (isLate ? 0 : 1))
    }

    @Test func `a cancelled task ends the transfer`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let provider = try RawUpstream { _ in Reply.ok().held(by: gate) }
        let request = TransferRequest(url: try url(provider.url), timeLimit: .seconds(60))
        let task = Task { try await send(request) }
        try provider.request()
        task.cancel()
        await #expect(throws: TransferError.cancelled) { try await task.value }
    }

    /// When the reset is seen depends on which side is faster.
    @Test func `a server that resets each connection has refused none`() async throws {
        let server = try RawUpstream { wire in wire.reset() }
        for _ in 0..<50 {
            do {
                _ = try await send(TransferRequest(url: url("http://\(server.address)")))
                Issue.record("there is an answer")
            } catch let error as TransferError {
                #expect(error != .notConnected(.connectionRefused))
            }
        }
    }

    /// Chunks of one byte, with extensions that have no end.
    private static let padding = String(
        repeating: "1;\(String(repeating: "x", count: 2_000))\r\ny\r\n", count: 2_000)

    @Test func `a port on which nobody listens refuses`() async throws {
        let (socket, address) = try Socket.refusing()
        await #expect(throws: TransferError.notConnected(.connectionRefused)) {
            try await send(TransferRequest(url: url("http://\(address)")))
        }
        withExtendedLifetime(socket) {}
    }

    @Test(arguments: [
        (Reply.close, TransferError.unanswered), (.reset, .unanswered),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", thenClose: true), .interrupted),
        (.raw("+OK POP3 server ready\r\n", thenClose: true), .malformed),
        (.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", thenClose: true), .interrupted),
        (.raw("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n"), .tooLarge),
        (.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + padding), .tooLarge),
    ])
    func `a broken answer is an error that says how`(reply: Reply, expected: TransferError) async throws {
        let provider = try RawUpstream { _ in reply }
        await #expect(throws: expected) {
            try await send(TransferRequest(method: .post, url: url(provider.url)))
        }
        #expect(provider.requests.count == 1)
    }

    @Test func `a certificate is judged by the authorities given`() async throws {
        let authority = try TLSAuthority()
        let provider = try RawUpstream(tls: authority.server())
        let request = TransferRequest(url: try url(provider.url))
        let trust = try TrustStore(file: authority.certificateFile)
        #expect(try await send(request, over: Transport(trust: trust)).status == 200)
        let error = await #expect(throws: TransferError.self) {
            try await send(request, over: Transport(trust: TrustStore.system()))
        }
        #expect(error == .notConnected(.tlsCertificate(.unknownAuthority)))
        #expect(error?.isCertificate == true)
        #expect(try await send(request, over: Transport(skipsVerification: true)).status == 200)
    }

    @Test func `neither requests nor answers print what they hold`() throws {
        var request = TransferRequest(url: try url("http://127.0.0.1/?code=s3cret"))
        request.fields.append(.authorization, "Basic s3cret")
        request.body = Array("client_secret=s3cret".utf8)
        var dumped = "\(request) \(String(reflecting: request))"
        dump(request, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }
}

/// Sends one request on a loop of its own.
func send(
    _ request: TransferRequest, over transport: Transport = Transport()
) async throws -> TransferResponse {
    let client = try ClientLoop()
    defer { client.stop() }
    return try await TransferClient(loop: client.loop).send(request, over: transport)
}
