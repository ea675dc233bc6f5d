// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What the connections to one TLS upstream have in common.
@Suite(.blocking) struct `Connections to one TLS upstream` {
    private let own: TrustedAuthority
    private var authority: TLSAuthority { own.authority }
    private var trust: TrustStore { own.trust }

    init() throws { own = try TrustedAuthority() }

    @Test func `new connections resume the session of those before, however these ended`() async throws {
        let server = try authority.server()
        let upstream = try RawUpstream(tls: server)
        let address = try upstream.address(Transport(trust: trust))
        try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            for _ in 0..<5 {
                let connection = try await connector.connect(within: patience)
                #expect(try await connection.exchange().hasSuffix("hello"))
                connection.stream.close()
            }
        }
        #expect(upstream.connectionCount == 5 && server.resumptions == 4)
    }

    @Test func `connections that begin before the next session is read resume the same one`() async throws {
        let server = try authority.server()
        let upstream = try RawUpstream(tls: server)
        let address = try upstream.address(Transport(trust: trust))
        try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            let first = try await connector.connect(within: patience)
            #expect(try await first.exchange().hasSuffix("hello"))
            first.stream.close()
            var connections: [UpstreamConnection] = []
            for _ in 0..<3 { connections.append(try await connector.connect(within: patience)) }
            for connection in connections {
                #expect(try await connection.exchange().hasSuffix("hello"))
                connection.stream.close()
            }
        }
        #expect(upstream.connectionCount == 4 && server.resumptions == 3)
    }

    @Test func `a session is not resumed under other authorities`() async throws {
        let server = try authority.server()
        let upstream = try RawUpstream(tls: server)
        let strangers = try TLSAuthority()
        let stranger = try TrustStore(file: strangers.certificateFile)
        let (trusted, distrusted) = (
            try upstream.address(Transport(trust: trust)), try upstream.address(Transport(trust: stranger))
        )
        await #expect(throws: UpstreamError.tlsCertificate(.unknownAuthority)) {
            try await onLoop { multis in
                for address in [trusted, distrusted] { _ = try await connect(to: address, multis).exchange() }
            }
        }
        #expect(server.resumptions == 0)
    }

    @Test func `an address is verified as an address`() async throws {
        for (names, isFine) in [(["127.0.0.1"], true), (["localhost"], false), (["127.0.0.2"], false)] {
            let upstream = try RawUpstream(tls: authority.server(for: names))
            let url = try #require(HTTPURL(upstream.url.replacing("localhost", with: "127.0.0.1")))
            #expect(url.host == "127.0.0.1")
            let address = UpstreamAddress(url: url, transport: Transport(trust: trust))
            let refusal: UpstreamError? = try await onLoop { multis in
                await failure { () async throws(UpstreamError) in
                    _ = try await UpstreamConnector(address: address, multis: multis).connect(
                        within: patience)
                }
            }
            #expect(refusal == (isFine ? nil : .tlsCertificate(.otherName)), "\(names)")
        }
    }

    @Test func `our certificate is shown, as it was when somebody read it last`() async throws {
        let upstream = try RawUpstream(tls: authority.server(clientAuthority: authority.certificateFile))
        let directory = try TemporaryDirectory()
        let (certificate, key) = try authority.client()
        let other = try authority.certificate(for: ["other.test"])
        let file = try directory.write("client.pem", "no certificate")
        let own = OwnCertificate(certificateFile: file, keyFile: key)
        #expect(!own.read())
        let address = try upstream.address(Transport(trust: trust, ownCertificate: own))
        let first: UpstreamError? = try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            let first = await failure { () async throws(UpstreamError) in
                _ = try await connector.connect(within: patience)
            }
            try directory.write("client.pem", bytes: TemporaryDirectory.contents(of: certificate))
            #expect(own.read())
            let connection = try await connector.connect(within: patience)
            #expect(try await connection.exchange().hasSuffix("hello"))
            // Half of a change: the pair before is shown until the other half is there.
            try directory.write("client.pem", bytes: TemporaryDirectory.contents(of: other.certificateFile))
            #expect(!own.read())
            let next = try await connector.connect(within: patience)
            #expect(try await next.exchange().hasSuffix("hello"))
            return first
        }
        #expect(first == .clientCertificate(.unusable))
    }
}
