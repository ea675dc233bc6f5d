// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What bearerd accepts another server must see as exactly the same requests (RFC 9112 section 11.2).
@Suite(.blocking, .needs(.nginx)) struct `Nginx sees the requests that bearerd accepts` {
    private let nginx: NginxUpstream
    private let bearerd: BearerdProcess
    private let provider: HostileProvider

    init() throws {
        nginx = try NginxUpstream(try #require(NginxUpstream.program))
        provider = try HostileProvider()
        // One token for all of it, however long that takes.
        provider.setPolicy { $0.expiresIn = "36000" }
        let directory = try TemporaryDirectory()
        bearerd = try BearerdProcess(
            configuration: Sidecar.configuration(
                provider: provider, upstream: nginx.url, clientSecret: "not-a-secret", directory: directory,
                Sidecar.Settings(store: "type: memory")),
            in: directory)
        #expect(try client().request("GET", "/ready").status == 200)
        try eventually("its line") { nginx.seen.count == 2 }
    }

    @Test func `each by itself, and all of them on one connection`() throws {
        for (number, odd) in OddRequest.all.enumerated() {
            try send("one\(number)", [odd])
        }
        try send("all", OddRequest.all.filter { !$0.text.contains("close") })
    }

    /// Wherever the network cuts them, they are the same requests.
    @Test func `and all of them on one connection, cut into pieces at random`() throws {
        var random = RepeatableGenerator(seed: 0xBEA2_E2D0_0000_0001)
        for round in 0..<4 {
            let requests = OddRequest.all.filter { !$0.text.contains("close") }.shuffled(using: &random)
            try send("cut\(round)", requests) { bytes in
                var cuts = Set([0, bytes.count])
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    cuts.insert(Int.random(in: 0...bytes.count, using: &random))
                }
                let places = cuts.sorted()
                return zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
            }
        }
    }

    /// Damages good requests at random, always the same way: whoever reads what is left in another way than bearerd sees
    /// a request that bearerd never wrote, without a token, or another number of them.
    @Test func `and nothing else, however a request is damaged`() throws {
        var random = RepeatableGenerator(seed: 0x9E37_79B9_7F4A_7C15)
        let token = try #require(nginx.seen.last?.authorization)
        for _ in 0..<400 {
            let odd = try #require(OddRequest.all.randomElement(using: &random))
            let whole = try bytes(of: odd, nonce: "damaged") + bytes(of: .marker, nonce: "marker")
            let bytes = damaged(whole, &random)
            let before = nginx.seen.count
            let client = try client()
            try? client.wire.send(bytes)
            client.wire.finishWriting()
            let answers = String(decoding: try client.wire.readToEnd(), as: UTF8.self)
            let count =
                answers.split(separator: "X-Seen-By: nginx", omittingEmptySubsequences: false).count - 1
            try eventually("\(count) lines") { nginx.seen.count >= before + count }
            let seen = nginx.seen[before...]
            let comment = "\(String(decoding: bytes, as: UTF8.self).debugDescription)\n\(answers)\n\(seen)"
            #expect(seen.count == count, "\(comment)")
            #expect(
                seen.allSatisfy { $0.authorization == token && $0.via.hasSuffix(" bearerd") }, "\(comment)")
        }
    }

    /// Sends the requests on one connection and compares what nginx saw.
    private func send(
        _ name: String, _ requests: [OddRequest], inPieces: ([UInt8]) -> [[UInt8]] = { [$0] }
    ) throws {
        let before = nginx.seen.count
        let client = try client()
        for (number, odd) in requests.enumerated() {
            for piece in inPieces(try bytes(of: odd, nonce: "\(name)-\(number)")) {
                try client.wire.send(piece)
            }
            let answer = try client.wire.readResponse(to: odd.method)
            #expect(answer["X-Seen-By"] == "nginx", "\(odd.text.debugDescription): \(answer.head)")
        }
        try eventually("\(requests.count) lines for \(requests)") {
            nginx.seen.count >= before + requests.count
        }
        let seen = nginx.seen[before...]
        #expect(seen.count == requests.count)
        for ((number, odd), seen) in zip(requests.enumerated(), seen) {
            #expect(
                seen.method == odd.method && seen.target == odd.target && seen.nonce == "\(name)-\(number)"
                    && seen.body == odd.body, "\(odd.text.debugDescription): \(seen)")
            #expect(
                seen.authorization.hasPrefix("Bearer ") && seen.via == "\(odd.version) bearerd", "\(seen)")
        }
    }

    private func client() throws -> RawClient { try RawClient(to: bearerd.proxy) }

    private func bytes(of odd: OddRequest, nonce: String) throws -> [UInt8] {
        let host = "\(try bearerd.proxy)"
        return Array(odd.text.replacing("$host", with: host).replacing("$nonce", with: nonce).utf8)
    }

    /// One to three bytes taken out, put in, doubled or changed, mostly such as HTTP is made of.
    private func damaged(_ bytes: [UInt8], _ random: inout RepeatableGenerator) -> [UInt8] {
        var bytes = bytes
        let alphabet = Array("\r\n\r\n \t:;,0123456789abcdef\u{0}\u{B}\u{7F}#%/?".utf8) + [0x85, 0xA0]
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            let byte = alphabet.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(byte, at: place)
            case 2: bytes[place] = byte
            default: bytes.insert(bytes[place], at: place)
            }
        }
        return bytes
    }
}

extension OddRequest {
    /// The request that follows a damaged one on its connection.
    static let marker = OddRequest(
        "GET /marker HTTP/1.1\r\nHost: $host\r\nX-Nonce: $nonce\r\n\r\n", "GET", "/marker")
}
