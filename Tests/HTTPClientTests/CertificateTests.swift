// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Which certificates are believed, and what is said of the others: by upstream connections and provider transfers alike.
@Suite(.blocking) struct `The certificate of a server` {
    private let own: TrustedAuthority
    private var authority: TLSAuthority { own.authority }
    private var trust: TrustStore { own.trust }

    init() throws { own = try TrustedAuthority() }

    /// The results of a connection and of a transfer to `host`.
    private func judge(
        _ files: (certificateFile: String, keyFile: String), at host: String
    ) async throws -> [UpstreamError?] {
        let server = try RawUpstream(
            tls: TLSServer(certificateFile: files.certificateFile, keyFile: files.keyFile))
        guard case .tcp(let port) = server.address else { return [] }
        let transport = Transport(
            trust: trust, connectTo: ConnectDestination(host: "127.0.0.1", port: port))
        let target = try url("https://\(host):\(port)/")
        let address = UpstreamAddress(url: target, transport: transport)
        let connecting: UpstreamError? = try await onLoop { multis in
            await failure { () async throws(UpstreamError) in
                _ = try await UpstreamConnector(address: address, multis: multis).connect(
                    within: patience)
            }
        }
        do {
            _ = try await send(TransferRequest(url: target), over: transport)
            return [connecting, nil]
        } catch TransferError.notConnected(let error) {
            return [connecting, error]
        }
    }

    @Test(arguments: [
        (subject: "test server", names: ["api.test"], host: "api.test", fault: CertificateFault?.none),
        ("api.test", ["elsewhere.test"], "api.test", .otherName),
        ("api.test", [], "api.test", .noAlternativeName),
        ("elsewhere.test", [], "api.test", .noAlternativeName),
        ("127.0.0.1", [], "127.0.0.1", .noAlternativeName),
        ("api.test", ["email:root@api.test"], "api.test", .noAlternativeName),
        ("test server", ["*.wild.test"], "api.wild.test", nil),
        ("test server", ["*.wild.test"], "wild.test", .otherName),
        ("test server", ["*.wild.test"], "a.b.wild.test", .otherName),
        ("test server", ["127.0.0.1"], "127.0.0.1", nil),
        ("127.0.0.1", ["127.0.0.2"], "127.0.0.1", .otherName),
        ("127.0.0.1", ["localhost"], "127.0.0.1", .otherName),
        ("test server", ["::1"], "[::1]", nil),
    ])
    func `counts by its subjectAltName alone`(
        subject: String, names: [String], host: String, fault: CertificateFault?
    ) async throws {
        let files = try authority.certificate(for: names, subject: subject)
        let expected = fault.map { UpstreamError.tlsCertificate($0) }
        #expect(try await judge(files, at: host) == [expected, expected])
    }

    @Test func `is refused with the reason of the library`() async throws {
        let stranger = try TLSAuthority()
        for (files, fault) in [
            (try authority.certificate(for: ["api.test"], days: -1), CertificateFault.expired),
            (try authority.selfSigned(for: ["api.test"]), .selfSigned),
            (try stranger.certificate(for: ["api.test"]), .unknownAuthority),
        ] {
            let expected = UpstreamError.tlsCertificate(fault)
            #expect(try await judge(files, at: "api.test") == [expected, expected])
        }
    }
}
