// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPClient
import HTTPMessages
import TestSupport
import Testing

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

    @Test func `a proxy that says no is a proxy's failure`() async throws {
        let proxy = try TunnellingProxy(status: "403 Forbidden")
        let address = UpstreamAddress(
            url: try url("http://api.invalid"), transport: Transport(proxy: .url(proxy.url)))
        await #expect(throws: UpstreamError.proxyFailed) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
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

    @Test func `an https proxy is not vouched for by the route's own authorities`() async throws {
        let authority = try TLSAuthority()
        let proxy = try TunnellingProxy(tls: authority.server())
        let url = proxy.url.replacing("http://127.0.0.1", with: "https://localhost")
        let trust = try TrustStore(file: authority.certificateFile)
        let address = UpstreamAddress(
            url: try HTTPClientTests.url("https://api.invalid"),
            transport: Transport(trust: trust, proxy: .url(url)))
        await #expect(throws: UpstreamError.tlsCertificate(.unknownAuthority)) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
        #expect(proxy.heads.isEmpty)
    }
}
