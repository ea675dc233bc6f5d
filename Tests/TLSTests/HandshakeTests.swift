// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdTLS
import BearerdTestSupport
import Testing

@Suite(.blocking) struct `The two sides of TLS` {
    private let authority: TLSAuthority
    private let security: ServerTLS

    init() throws {
        authority = try TLSAuthority()
        security = ServerTLS(try Self.context(authority))
    }

    private static func context(
        _ authority: TLSAuthority, wantsClients: Bool = false, offering offer: ProtocolOffer = .http1
    ) throws -> ServerContext {
        let files = try authority.certificate(for: ["a.test"])
        return try ServerContext(
            chain: TemporaryDirectory.contents(of: files.certificateFile),
            key: Secret(bytes: TemporaryDirectory.contents(of: files.keyFile)),
            clientAuthorities: wantsClients
                ? TemporaryDirectory.contents(of: authority.certificateFile) : nil,
            offering: offer)
    }

    private func client(
        believesAll: Bool = true, certificate: (certificateFile: String, keyFile: String)? = nil,
        offering offer: ProtocolOffer = .http1
    ) throws -> ClientContext {
        let own = certificate.map { files in
            CertifiedKey(
                chain: TemporaryDirectory.contents(of: files.certificateFile),
                key: Secret(bytes: TemporaryDirectory.contents(of: files.keyFile)))
        }
        return try ClientContext(
            host: "a.test", authorities: nil, certificate: own, skipsVerification: believesAll,
            offering: offer)
    }

    @Test func `carry bytes both ways, and an end in good order`() throws {
        let pair = try #require(WirePair(security, client()))
        let hands = pair.shakeHands()
        #expect(hands.server.word == "moved" && hands.client.word == "moved")
        #expect(pair.client.say("question").word == "moved")
        #expect(pair.server.hear().text == "question")
        #expect(pair.server.say("answer").word == "moved")
        #expect(pair.server.endSending().word == "moved")
        #expect(pair.client.hear().text == "answer")
        #expect(pair.client.hear().result.word == "end")
    }

    @Test(
        arguments: [
            (.http1, .http1, .http1), (.either, .either, .http2), (.either, .http1, .http1),
            (.http1, .either, .http1), (.http2, .either, .http2), (.http2, .http2, .http2),
        ] as [(ProtocolOffer, ProtocolOffer, ApplicationProtocol)])
    func `agree on the first of the server's protocols that the client offers`(
        server: ProtocolOffer, client: ProtocolOffer, agreed: ApplicationProtocol
    ) throws {
        let security = ServerTLS(try Self.context(authority, offering: server))
        let pair = try #require(WirePair(security, self.client(offering: client)))
        #expect(pair.client.applicationProtocol == nil)
        let hands = pair.shakeHands()
        #expect(hands.server.word == "moved" && hands.client.word == "moved")
        #expect(pair.server.applicationProtocol == agreed && pair.client.applicationProtocol == agreed)
    }

    @Test func `do not agree where they have no protocol in common`() throws {
        let security = ServerTLS(try Self.context(authority, offering: .http1))
        let pair = try #require(WirePair(security, client(offering: .http2)))
        let hands = pair.shakeHands()
        guard case .failed(.transport) = hands.server, case .failed(.transport) = hands.client else {
            Issue.record("\(hands)")
            return
        }
        #expect(pair.client.applicationProtocol == nil)
    }

    @Test func `know when a receive has left nothing`() throws {
        let pair = try #require(WirePair(security, client()))
        _ = pair.shakeHands()
        var random = RepeatableGenerator(seed: 25)
        var (drained, more) = (0, 0)
        for _ in 0..<300 {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let count = [1, 700, 16_000, 16_384, 30_000].randomElement(using: &random) ?? 1
                let record = [UInt8](repeating: 0x61, count: Int.random(in: 1...count, using: &random))
                _ = record.withUnsafeBytes { pair.server.send($0) }
            }
            let room = [100, 1000, 16_384, 40_000].randomElement(using: &random) ?? 1
            var bytes = [UInt8](repeating: 0, count: room)
            while true {
                guard case .moved(let count) = bytes.withUnsafeMutableBytes({ pair.client.receive(into: $0) })
                else { break }
                guard count < room, pair.client.drainsOnShortReceive else {
                    more += 1
                    continue
                }
                drained += 1
                let next = bytes.withUnsafeMutableBytes { pair.client.receive(into: $0) }
                #expect(next.word == "wouldBlockOnRead")
                break
            }
        }
        #expect(drained > 50 && more > 50)
    }

    /// The tickets of a server, as keys that a peer changes, are read with the answer.
    @Test func `count as work what the other one has to say of the handshake after its end`() throws {
        let pair = try #require(WirePair(security, client()))
        _ = pair.shakeHands()
        for isFirst in [true, false] {
            #expect(pair.server.say("answer").word == "moved")
            #expect(pair.client.hear().text == "answer")
            #expect((pair.client.workBeside > 0) == isFirst)
        }
    }

    @Test func `tell a cut from an end`() throws {
        let pair = try #require(WirePair(security, client()))
        _ = pair.shakeHands()
        #expect(pair.server.say("answer").word == "moved")
        pair.cut()
        #expect(pair.client.hear().text == "answer")
        #expect(pair.client.hear().result.word == "truncated")
    }

    @Test func `do not agree where nobody vouches for the server`() throws {
        let pair = try #require(WirePair(security, client(believesAll: false)))
        let hands = pair.shakeHands()
        guard case .failed(.certificate) = hands.client else {
            Issue.record("\(hands.client)")
            return
        }
        guard case .failed(.transport) = hands.server else {
            Issue.record("\(hands.server)")
            return
        }
    }

    @Test func `ask for a client's certificate where the server says so`() throws {
        let strict = ServerTLS(try Self.context(authority, wantsClients: true))
        let stranger = try #require(WirePair(strict, client()))
        #expect(stranger.shakeHands().server.word != "moved")
        let known = try #require(WirePair(strict, client(certificate: authority.client())))
        #expect(known.shakeHands().server.word == "moved")
    }

    @Test func `understand a client that speaks plain HTTP, so far as to answer it`() throws {
        let pair = try #require(WirePair(security, nil))
        #expect(pair.client.say("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").word == "moved")
        #expect(pair.server.handshake().word == "\(StreamError.unencrypted)")
        #expect(pair.server.say("HTTP/1.1 400 ").word == "moved")
        #expect(pair.client.hear().text == "HTTP/1.1 400 ")
    }

    @Test func `use another certificate from the next connection on`() throws {
        let old = try #require(WirePair(security, client()))
        _ = old.shakeHands()
        security.replace(with: try Self.context(authority, wantsClients: true))
        #expect(old.client.say("still here").word == "moved")
        #expect(old.server.hear().text == "still here")
        let new = try #require(WirePair(security, client()))
        #expect(new.shakeHands().server.word != "moved")
    }
}
