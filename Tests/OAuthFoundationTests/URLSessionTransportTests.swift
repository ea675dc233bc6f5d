// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdTestSupport
import Foundation
import FoundationNetworking
import OAuth
import OAuthFoundation
import Testing

/// What sessions are told of servers that are asked by Foundation.
@Suite(.timeLimit(.minutes(10))) struct `A transport by URLSession` {
    init() { EmptyProxyEnvironment.enter() }

    private func request(
        _ url: String, _ change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> TransferRequest {
        var request = TransferRequest(
            method: .post, url: try #require(HTTPURL(url)), body: Array("grant_type=x&scope=a%20b".utf8))
        request.fields.append(.contentType, "application/x-www-form-urlencoded")
        request.fields.append(.authorization, "Basic ZmFrZTpmYWtl")
        change(&request)
        return request
    }

    private func failure(
        of server: RawUpstream, _ change: (inout TransferRequest) -> Void = { _ in }
    ) async throws -> TransportError? {
        let request = try request(server.url + "/token", change)
        return await #expect(throws: TransportError.self) { try await URLSessionTransport().send(request) }
    }

    @Test func `sends what it is told, and gives back what came`() async throws {
        let server = try RawUpstream { _ in
            .response(
                400, [("Content-Type", "application/json"), ("DPoP-Nonce", "n1")],
                #"{"error":"invalid_grant"}"#)
        }
        let response = try await URLSessionTransport().send(try request(server.url + "/token?a=b"))
        #expect(response.status == 400 && response.cutOff == nil)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"error":"invalid_grant"}"#)
        let sent = try #require(server.requests.first)
        #expect(sent.head.startLine == "POST /token?a=b HTTP/1.1")
        #expect(sent.text == "grant_type=x&scope=a%20b")
        #expect(sent["Authorization"] == "Basic ZmFrZTpmYWtl")
        #expect(sent["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(sent["Cookie"] == nil)
    }

    @Test func `leaves the program's configuration as it is`() {
        let configuration = URLSessionConfiguration.default
        let before = configuration.requestCachePolicy
        configuration.httpShouldSetCookies = true
        _ = URLSessionTransport(configuration: configuration)
        #expect(configuration.httpShouldSetCookies && configuration.httpCookieStorage != nil)
        #expect(configuration.urlCache != nil && configuration.requestCachePolicy == before)
    }

    @Test func `follows no redirect, which would take credentials along`() async throws {
        let other = try RawUpstream()
        let address = other.url
        let server = try RawUpstream { _ in .response(307, [("Location", address)], "moved") }
        let response = try await URLSessionTransport().send(try request(server.url))
        #expect(response.status == 307)
        #expect(other.requests.isEmpty && server.requests.count == 1)
    }

    @Test(arguments: [#"Basic realm="sso""#, #"Digest realm="sso", nonce="n""#, "Bearer", "Negotiate"])
    func `gives back what is said of wrong credentials`(challenge: String) async throws {
        let server = try RawUpstream { _ in
            .response(401, [("WWW-Authenticate", challenge)], #"{"error":"invalid_client"}"#)
        }
        let response = try await URLSessionTransport().send(try request(server.url))
        #expect(response.status == 401 && response.cutOff == nil)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"error":"invalid_client"}"#)
        #expect(server.requests.count == 1)
    }

    @Test func `keeps no cookie and no answer`() async throws {
        let server = try RawUpstream { _ in
            .response(200, [("Set-Cookie", "a=b"), ("Cache-Control", "max-age=3600")], "{}")
        }
        let transport = URLSessionTransport()
        for _ in 0..<2 {
            let response = try await transport.send(
                try request(server.url) {
                    $0.method = .get; $0.body = []
                })
            #expect(response.status == 200)
        }
        #expect(server.requests.count == 2 && server.requests.last?["Cookie"] == nil)
    }

    @Test func `waits no longer than it may, for a head and for a body`() async throws {
        let silent = try RawUpstream { (wire: Wire) in while try wire.readRequest() != nil {} }
        #expect(try await failure(of: silent) { $0.timeLimit = .milliseconds(300) } == .timedOut)
        let dripping = try RawUpstream { _ in
            .dripping(
                "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 100_000))
        }
        #expect(try await failure(of: dripping) { $0.timeLimit = .milliseconds(300) } == .timedOut)
    }

    @Test func `reads no more than it may, and keeps a part where that is wanted`() async throws {
        let server = try RawUpstream { _ in .ok(String(repeating: "a", count: 200_000)) }
        #expect(try await failure(of: server) { $0.maximumAnswerBytes = 1000 } == .responseTooLarge)
        let part = try await URLSessionTransport().send(
            try request(server.url) {
                $0.maximumAnswerBytes = 1000
                $0.keepsPartialAnswer = true
            })
        #expect(part.status == 200 && part.body.count == 1000 && part.cutOff == .responseTooLarge)
    }

    @Test func `says that nobody was asked only where that is sure`() async throws {
        let cutter = try RawUpstream { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", thenClose: true)
        }
        guard case .interrupted = try await failure(of: cutter) else {
            Issue.record("a cut answer is another failure")
            return
        }
        let gone = try RawServer { _ in }
        let port = gone.address.port
        gone.stop()
        let refused = try request("http://127.0.0.1:\(port)/")
        let error = await #expect(throws: TransportError.self) {
            try await URLSessionTransport().send(refused)
        }
        guard case .unreachable(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.contains("ZmFrZTpmYWtl"))
        let socket = try request("http+unix:/run/nothing.sock")
        await #expect(throws: TransportError.unreachable("URLSession cannot ask this address")) {
            try await URLSessionTransport().send(socket)
        }
    }

    @Test func `trusts the system's authorities alone`() async throws {
        let server = try RawUpstream(tls: try TLSAuthority().server())
        let error = try await failure(of: server)
        guard case .certificate = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `ends with the task that waits for it`() async throws {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let silent = try RawUpstream { (wire: Wire) in
            while try wire.readRequest() != nil { arrived.continuation.yield() }
        }
        let request = try request(silent.url) { $0.timeLimit = .seconds(3600) }
        let waiting = Task { try await URLSessionTransport().send(request) }
        var arrivals = arrived.stream.makeAsyncIterator()
        _ = await arrivals.next()
        waiting.cancel()
        await #expect(throws: TransportError.interrupted("cancelled")) { try await waiting.value }
    }
}
