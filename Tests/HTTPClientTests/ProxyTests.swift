// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@testable import BearerdHTTPClient

@Suite(.blocking) struct `A proxy on the way` {
    @Test func `the environment's proxy is used only where the configuration says so`() async throws {
        let environment = try #require(ProxyEnvironment.shared).proxy
        let upstream = try RawUpstream()
        #expect(try await send(TransferRequest(url: url(upstream.url))).status == 200)
        let address = try upstream.address()
        _ = try await onLoop { try await connect(to: address, $0).exchange() }
        let before = environment.heads.count
        #expect(before == environment.heads.filter { $0.target.contains("env.invalid") }.count)

        var request = TransferRequest(url: try url("http://env.invalid/token"))
        request.fields.append(.authorization, "Basic s3cret")
        #expect(try await send(request, over: Transport(proxy: .environment)).status == 200)
        let heads = environment.heads.filter { $0.target == "env.invalid:80" || $0.target == "/token" }
        #expect(heads.map(\.startLine) == ["CONNECT env.invalid:80 HTTP/1.1", "GET /token HTTP/1.1"])
        #expect(heads.first?["Authorization"] == nil)
        #expect(heads.last?["Authorization"] == "Basic s3cret")
    }

    @Test func `no_proxy of the environment holds for the environment's proxy alone`() async throws {
        let target = try url("http://unproxied.invalid/")
        await #expect(throws: TransferError.self) {
            try await send(TransferRequest(url: target), over: Transport(proxy: .environment))
        }
        let proxy = try TunnellingProxy()
        #expect(
            try await send(TransferRequest(url: target), over: Transport(proxy: .url(proxy.url))).status
                == 200)
        #expect(proxy.heads.first?.startLine == "CONNECT unproxied.invalid:80 HTTP/1.1")
    }

    @Test func `this machine is never reached through a proxy`() async throws {
        let proxy = try TunnellingProxy()
        let upstream = try RawUpstream()
        let address = try upstream.address(Transport(proxy: .url(proxy.url)))
        _ = try await onLoop { try await connect(to: address, $0).exchange() }
        #expect(proxy.heads.isEmpty)
    }

    @Test func `a proxy is asked for a tunnel to where connect_to points`() async throws {
        let proxy = try TunnellingProxy()
        let transport = Transport(
            proxy: .url(proxy.url), connectTo: ConnectDestination(host: "inner.invalid", port: 8443))
        let address = UpstreamAddress(url: try url("http://localhost:8080"), transport: transport)
        let answer = try await onLoop { try await connect(to: address, $0).exchange() }
        #expect(answer.hasSuffix("hello"))
        #expect(proxy.heads.first?.startLine == "CONNECT inner.invalid:8443 HTTP/1.1")
    }

    /// Fails to reach a server through a proxy, as an upstream and as a provider.
    private func expect(
        _ cause: ProxyFailure.Cause, of proxy: String, at place: String, target: String = "api.invalid",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let expected = UpstreamError.proxy(ProxyFailure(at: place, cause))
        let transport = Transport(proxy: .url(proxy))
        for scheme in ["http", "https"] {
            let url = try url("\(scheme)://\(target)")
            await #expect(throws: expected, "\(url)", sourceLocation: sourceLocation) {
                let address = UpstreamAddress(url: url, transport: transport)
                try await onLoop { multis in
                    _ = try await UpstreamConnector(address: address, multis: multis).connect(
                        within: .seconds(1))
                }
            }
            await #expect(
                throws: TransferError.notConnected(expected), "\(url)", sourceLocation: sourceLocation
            ) {
                try await send(TransferRequest(url: url, timeLimit: .seconds(1)), over: transport)
            }
        }
    }

    @Test(arguments: [403, 407, 502]) func `a proxy that says no is a proxy's failure`(
        status: Int
    )
        async throws
    {
        let proxy = try TunnellingProxy(status: "\(status) No")
        let place = proxy.url.replacing("http://", with: "")
        try await expect(
            .answered(status: status), of: "http://user:not-a-password@\(place)/", at: place)
    }

    @Test func `a proxy that cannot be reached is told, and not the server behind it`() async throws {
        let nobody = try Socket.refusing()
        for scheme in ["http", "https", "socks5h"] {
            let place = "\(nobody.address)"
            try await expect(.connecting(.connectionRefused), of: "\(scheme)://\(place)", at: place)
            try await expect(
                .connecting(.dnsError), of: "\(scheme)://nowhere.invalid:1", at: "nowhere.invalid:1")
        }
    }

    @Test func `a proxy that hangs up, is mute or speaks something else is told`() async throws {
        let closing = try RawServer { _ = try $0.readHead() }
        let mute = try RawServer { _ = try $0.readToEnd() }
        let other = try RawServer { wire in
            _ = try wire.readSome()
            try wire.send("SSH-2.0-OpenSSH_9\r\n\r\n")
            wire.close()
        }
        try await expect(.broken, of: "http://\(closing.address)", at: "\(closing.address)")
        try await expect(.connecting(.connectionTimeout), of: "http://\(mute.address)", at: "\(mute.address)")
        try await expect(
            .connecting(.connectionTimeout), of: "socks5h://\(mute.address)", at: "\(mute.address)")
        try await expect(.broken, of: "http://\(other.address)", at: "\(other.address)")
    }

    /// RFC 1928 6: the greeting, and a reply of failure.
    @Test(arguments: [(2, "does not allow"), (4, "no way"), (5, "refused")])
    func `what a SOCKS proxy says is told`(reply: UInt8, words: String) async throws {
        let proxy = try RawServer { wire in
            _ = try wire.readSome()
            try wire.send([5, 0])
            _ = try wire.readSome()
            try wire.send([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
            _ = try wire.readToEnd()
        }
        let address = UpstreamAddress(
            url: try url("https://api.invalid"),
            transport: Transport(proxy: .url("socks5h://\(proxy.address)")))
        let error = try await onLoop { multis in
            await failure { () async throws in _ = try await connect(to: address, multis) }
        }
        guard case .proxy(let failure)? = error as? UpstreamError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reason.hasPrefix("the proxy \(proxy.address): ") && failure.reason.contains(words))
    }

    @Test func `behind a proxy that lets us through, the server's certificate is the server's`() async throws
    {
        let authority = try TLSAuthority()
        let server = try RawServer(tls: authority.server(for: ["api.invalid"])) { _ = try $0.readToEnd() }
        let proxy = try RawServer { wire in
            _ = try wire.readHead()
            let inner = try Wire(to: server.address)
            try wire.send("HTTP/1.1 200 OK\r\n\r\n")
            startThread {
                while let bytes = try? inner.readSome(), !bytes.isEmpty { try? wire.send(bytes) }
            }
            while case let bytes = try wire.readSome(), !bytes.isEmpty { try inner.send(bytes) }
        }
        let stranger = try TLSAuthority()
        let transport = Transport(
            trust: try TrustStore(file: stranger.certificateFile),
            proxy: .url("http://\(proxy.address)"))
        let address = UpstreamAddress(url: try url("https://api.invalid"), transport: transport)
        await #expect(throws: UpstreamError.tlsCertificate(.unknownAuthority)) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
    }

    @Test func `behind a proxy, too, no TLS session outlives the certificate of ours that it began with`()
        async throws
    {
        let (authority, stranger) = (try TLSAuthority(), try TLSAuthority())
        let upstream = try RawUpstream(
            tls: authority.server(for: ["api.invalid"], clientAuthority: authority.certificateFile))
        let proxy = try HoldingProxy(to: upstream.address)
        let pairs = try [authority, stranger].map { try $0.certificate(for: ["client.test"]) }
        let files = try ReplacedCertificate(pairs[0])
        let own = files.own
        #expect(own.read())
        let address = UpstreamAddress(
            url: try url("https://api.invalid"),
            transport: Transport(
                trust: try TrustStore(file: authority.certificateFile), ownCertificate: own,
                proxy: .url(proxy.url)))
        try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            let first = try await connector.connect(within: patience)
            #expect(try await first.exchange().hasSuffix("hello"))
            first.close()
            try files.replace(with: pairs[1])
            #expect(own.read())
            let refusal = await failure { () async throws in
                _ = try await connector.connect(within: patience).exchange()
            }
            #expect(refusal != nil, "the upstream sees the certificate of before")
        }
    }

    @Test func `no_proxy of the environment decides who has failed`() async throws {
        let target = try url("http://unproxied.invalid/")
        await #expect(throws: TransferError.notConnected(.dnsError)) {
            try await send(TransferRequest(url: target), over: Transport(proxy: .environment))
        }
    }

    @Test(arguments: [
        ("http://user:pass@proxy.test:3128", "proxy.test:3128"), ("HTTPS://proxy.test/", "proxy.test:443"),
        ("proxy.test", "proxy.test:1080"), ("[::1]:8080", "[::1]:8080"), ("http://a:b/c@proxy.test", nil),
        ("http://a:b@c@proxy.test:1", "proxy.test:1"), ("http://", nil), ("", nil),
    ])
    func `a proxy's place has nothing of its password`(url: String, place: String?) {
        #expect(ProxyServer(url)?.address.description == place)
    }

    @Test func `an https proxy is believed by authorities of its own, and shown no certificate of ours`()
        async throws
    {
        let authority = try TLSAuthority()
        let proxy = try TunnellingProxy(tls: authority.server())
        let url = proxy.url.replacing("http://127.0.0.1", with: "https://localhost")
        // Nothing can be read of it.
        let own = OwnCertificate(certificateFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem")
        let transport = Transport(
            proxyTrust: try TrustStore(file: authority.certificateFile), ownCertificate: own,
            proxy: .url(url))
        let request = TransferRequest(url: try HTTPClientTests.url("http://api.invalid/token"))
        #expect(try await send(request, over: transport).status == 200)
        #expect(proxy.heads.first?.startLine == "CONNECT api.invalid:80 HTTP/1.1")
    }

    /// The protocol that is spoken through a proxy to `upstream.test`.
    private static func spokenProtocol(
        _ httpProtocol: UpstreamProtocol, with scheme: String, through proxy: HoldingProxy,
        _ authority: TLSAuthority
    ) async throws -> ApplicationProtocol {
        let trust = try TrustStore(file: authority.certificateFile)
        let address = UpstreamAddress(
            url: try url("\(scheme)://upstream.test"),
            transport: Transport(trust: trust, proxyTrust: trust, proxy: .url(proxy.url)),
            httpProtocol: httpProtocol)
        return try await onLoop {
            try await UpstreamConnector(address: address, multis: $0).spokenProtocol(within: patience)
        }
    }

    @Test func `an upstream of HTTP/2 without TLS may speak first behind an https proxy`() async throws {
        let authority = try TLSAuthority()
        let upstream = try HTTP2Upstream(speaksFirst: true) { _, _, _ in }
        let port = try #require(upstream.url.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try HoldingProxy(to: .tcp(port: port), tls: authority.server(), isJoining: true)
        #expect(try await Self.spokenProtocol(.http2, with: "http", through: proxy, authority) == .http2)
        #expect(proxy.requests == ["CONNECT upstream.test:80 HTTP/1.1"])
    }

    @Test func `an upstream that speaks first over a cipher that HTTP/2 prohibits is told as that`()
        async throws
    {
        let authority = try TLSAuthority()
        let prohibited = "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256"
        let server = try authority.server(for: ["upstream.test"]).choosing("\u{2}h2\u{8}http/1.1")
        let upstream = try HTTP2Upstream(tls: server.speakingTLS12(with: prohibited), speaksFirst: true) {
            _, _, _ in
        }
        let port = try #require(upstream.url.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try HoldingProxy(to: .tcp(port: port), tls: authority.server())
        #expect(try await Self.spokenProtocol(.auto, with: "https", through: proxy, authority) == .http1)
        await #expect(throws: UpstreamError.weakCipher) {
            try await Self.spokenProtocol(.http2, with: "https", through: proxy, authority)
        }
    }

    @Test func `an https proxy is not vouched for by the route's own authorities`() async throws {
        let authority = try TLSAuthority()
        let proxy = try TunnellingProxy(tls: authority.server())
        let url = proxy.url.replacing("http://127.0.0.1", with: "https://localhost")
        let trust = try TrustStore(file: authority.certificateFile)
        let address = UpstreamAddress(
            url: try HTTPClientTests.url("https://api.invalid"),
            transport: Transport(trust: trust, proxy: .url(url)))
        let place = url.replacing("https://", with: "")
        let cause = ProxyFailure.Cause.connecting(.tlsCertificate(.unknownAuthority))
        await #expect(throws: UpstreamError.proxy(ProxyFailure(at: place, cause))) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
        #expect(proxy.heads.isEmpty)
    }
}
