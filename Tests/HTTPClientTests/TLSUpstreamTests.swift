// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Glibc
import Testing

@Suite(.blocking) struct `A TLS upstream` {
    private let own: TrustedAuthority
    private var authority: TLSAuthority { own.authority }
    private var trust: TrustStore { own.trust }

    init() throws { own = try TrustedAuthority() }

    @Test func `a certificate of a trusted authority carries requests`() async throws {
        let upstream = try RawUpstream(tls: authority.server())
        let address = try upstream.address(Transport(trust: trust))
        let answers = try await onLoop { multis in
            let connection = try await connect(to: address, multis)
            return [try await connection.exchange(), try await connection.exchange()]
        }
        #expect(answers.allSatisfy { $0.hasSuffix("hello") })
        #expect(upstream.connectionCount == 1)
    }

    @Test func `an unknown authority is refused`() async throws {
        let upstream = try RawUpstream(tls: authority.server())
        let strangers = try TLSAuthority()
        let stranger = try TrustStore(file: strangers.certificateFile)
        for trust in [stranger, nil] {
            let address = try upstream.address(Transport(trust: trust))
            await #expect(throws: UpstreamError.tlsCertificate(.unknownAuthority)) {
                try await onLoop { _ = try await connect(to: address, $0) }
            }
        }
    }

    @Test func `the system's authorities do not vouch for a stranger`() async throws {
        let upstream = try RawUpstream(tls: authority.server())
        let address = try upstream.address(Transport(trust: TrustStore.system()))
        await #expect(throws: UpstreamError.tlsCertificate(.unknownAuthority)) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
    }

    @Test func `a certificate for another name is refused`() async throws {
        let upstream = try RawUpstream(tls: authority.server(for: ["elsewhere.test"]))
        let address = try upstream.address(Transport(trust: trust))
        await #expect(throws: UpstreamError.tlsCertificate(.otherName)) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
    }

    @Test func `an expired certificate is refused`() async throws {
        let upstream = try RawUpstream(tls: authority.server(days: -1))
        let address = try upstream.address(Transport(trust: trust))
        await #expect(throws: UpstreamError.tlsCertificate(.expired)) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
    }

    @Test func `insecure_skip_verify accepts what it is shown`() async throws {
        let upstream = try RawUpstream(tls: authority.server(for: ["elsewhere.test"], days: -1))
        let address = try upstream.address(Transport(skipsVerification: true))
        let answer = try await onLoop { try await connect(to: address, $0).exchange() }
        #expect(answer.hasSuffix("hello"))
    }

    @Test func `a server that speaks no TLS is a handshake error`() async throws {
        let upstream = try RawUpstream { wire in try wire.send("220 mail.test ready\r\n") }
        let target = try url("https://localhost:\(upstream.address.port)")
        let address = UpstreamAddress(url: target, transport: Transport(trust: trust))
        await #expect(throws: UpstreamError.tlsHandshake) {
            try await onLoop { _ = try await connect(to: address, $0) }
        }
    }

    @Test func `a handshake that never ends times out`() async throws {
        let upstream = try RawUpstream { wire in _ = try wire.readToEnd() }
        let target = try url("https://localhost:\(upstream.address.port)")
        let address = UpstreamAddress(url: target, transport: Transport(trust: trust))
        await #expect(throws: UpstreamError.greetingTimeout(of: .tls)) {
            try await onLoop { multis in
                _ = try await UpstreamConnector(address: address, multis: multis).connect(
                    within: .milliseconds(150))
            }
        }
    }

    @Test(arguments: [true, false])
    func `only close_notify ends a body in good order`(isAnnounced: Bool) async throws {
        let upstream = try RawUpstream(tls: authority.server()) { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 200 OK\r\n\r\nhalf")
            if isAnnounced { wire.close() } else { wire.cut() }
        }
        let address = try upstream.address(Transport(trust: trust))
        let (answer, wasTruncated) = try await onLoop { multis in
            let connection = try await connect(to: address, multis)
            let answer = try await connection.exchange()
            return (answer, connection.stream.endWasTruncated)
        }
        #expect(answer.hasSuffix("half"))
        #expect(wasTruncated == !isAnnounced)
    }

    @Test func `ten megabytes go up and come back whole`() async throws {
        let size = 10 << 20
        let upstream = try RawUpstream(tls: authority.server()) { wire in
            let body = try wire.read(exactly: size)
            try wire.send(body)
            _ = try wire.readToEnd()
        }
        let address = try upstream.address(Transport(trust: trust))
        let sent = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let received = try await onLoop { multis in
            let connection = try await connect(to: address, multis)
            try await connection.stream.write(sent, within: patience)
            var received: [UInt8] = []
            received.reserveCapacity(size)
            while received.count < size {
                guard try await connection.stream.fill(within: patience, capacity: 1 << 17) else { break }
                received += connection.stream.input.takeAll()
            }
            return received
        }
        #expect(received == sent)
    }

    @Test func `hundreds of TLS connections at once spread over several multis and close`() async throws {
        let upstream = try RawUpstream(tls: authority.server())
        let address = try upstream.address(Transport(trust: trust))
        let answers = try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            var connections: [UpstreamConnection] = []
            for _ in 0..<150 { connections.append(try await connector.connect(within: patience)) }
            var answers: [String] = []
            for connection in connections.reversed() { answers.append(try await connection.exchange()) }
            return answers
        }
        #expect(answers.count == 150 && answers.allSatisfy { $0.hasSuffix("hello") })
        try upstream.awaitNoConnections()
    }

    @Test func `a file without certificates is no trust store`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("empty.pem", "nothing\n")
        #expect(throws: TrustStore.LoadError.unusable(path: path)) { try TrustStore(file: path) }
        #expect(throws: TrustStore.LoadError.unusable(path: "/nonexistent")) {
            try TrustStore(file: "/nonexistent")
        }
    }

    @Test func `each authority file is parsed once`() throws {
        let stores = TrustStores()
        let first = try stores.store(caFile: authority.certificateFile)
        #expect(try stores.store(caFile: authority.certificateFile) === first)
    }
}
