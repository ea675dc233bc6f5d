// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

@testable import BearerdCryptography

/// What tells that a text repeats a secret of ours.
@Suite struct `Secrets that are held` {
    private let now = ContinuousClock.now

    private static let forms = [
        "8b2c4f1a-03d7-4e6b-9a51-c0ffee123456", "9f86d081884c7d65", "abcd.efgh.1234",
        "eyJhbGci.eyJzdWIi.c2ln",
        "Zm9v/YmFy+cXV4Lw==", "p@ss w0rd&more", #"quote"and\slash"#, "ya29.a0Af_H6-x",
        "correct horse battery",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a", "100%41sure/", "Basic-Hällo",
    ]

    /// Every way to write a secret that a peer may have of it.
    private static func writings(of secret: String) -> [(name: String, text: String)] {
        let bytes = Array(secret.utf8)
        func escaped(_ escape: (UInt8) -> String) -> String {
            bytes.map { byte in
                let isPlain = UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80
                return isPlain ? String(UnicodeScalar(byte)) : escape(byte)
            }.joined()
        }
        func hexadecimal(_ byte: UInt8) -> String {
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        let percent = escaped { "%" + hexadecimal($0) }
        return [
            ("plain", secret), ("upper case", secret.uppercased()), ("percent", percent),
            ("percent, lower case", escaped { "%" + hexadecimal($0).lowercased() }),
            ("form", escaped { $0 == 0x20 ? "+" : "%" + hexadecimal($0) }),
            ("percent twice", percent.replacing("%", with: "%25")),
            ("JSON", secret.unicodeScalars.map { "\\u00" + hexadecimal(UInt8($0.value)) }.joined()),
            (
                "JSON, short",
                secret.replacing("\\", with: "\\\\").replacing("/", with: "\\/").replacing("\"", with: "\\\"")
            ),
            ("HTML", secret.unicodeScalars.map { "&#x\(hexadecimal(UInt8($0.value)));" }.joined()),
            ("HTML, decimal", secret.unicodeScalars.map { "&#\($0.value);" }.joined()),
            ("base 64", Base64.encode(bytes)), ("base 64 for URLs", Base64URL.encode(bytes)),
            ("Basic", "Basic " + Base64.encode(Array("client:".utf8) + bytes)),
            ("Basic, encoded", "Basic " + Base64.encode(Array("client:\(percent)".utf8))),
        ]
    }

    private func isRepeated(_ text: String, _ held: HeldSecrets, after delay: Duration = .zero) -> Bool {
        held.isRepeated(in: text.utf8, at: now + delay)
    }

    @Test(arguments: forms) func `are found in a text, however they are written`(secret: String) {
        var held = HeldSecrets(at: now)
        #expect(!held.hold(Array(secret.utf8), at: now).isEmpty)
        for (name, text) in Self.writings(of: secret)
        where name != "upper case" || secret.allSatisfy(\.isASCII) {
            for text in [text, "Access token \(text) is still valid", "x=\(text)&y", "\"\(text)\""] {
                #expect(isRepeated(text, held), "\(name): \(text)")
            }
        }
    }

    @Test(arguments: forms) func `are found in eight bytes of them, wherever they are cut`(secret: String) {
        var held = HeldSecrets(at: now)
        _ = held.hold(Array(secret.utf8), at: now)
        let bytes = Array(secret.utf8)
        for start in 0...(bytes.count - 8) {
            let text = Array("token ".utf8) + bytes[start..<start + 8] + Array("...".utf8)
            #expect(held.isRepeated(in: text, at: now), "from \(start)")
        }
    }

    @Test(arguments: [
        "invalid refresh token", "Invalid access_token", "Bad client credentials",
        "the client secret expired",
        "invalid_client: no such client", "Trace ID: 0b1c2d3e-1111-2222-3333-444455556666",
        "AADSTS7000215: Invalid client secret provided.", "%%%", "\\", "&#", "&#x;", "a+b", "",
    ])
    func `leave other words readable`(text: String) {
        var held = HeldSecrets(at: now)
        for secret in Self.forms + [
            "refresh-token-81f2", "access_token_9c4e", "client-secret-17", "bearer tok 1",
        ] {
            _ = held.hold(Array(secret.utf8), at: now)
        }
        #expect(!isRepeated(text, held))
        for text in ["no refresh-token-81f2", "Client-Secret-17"] { #expect(isRepeated(text, held)) }
    }

    @Test func `are found though they are words, where they are nothing else`() {
        var held = HeldSecrets(at: now)
        #expect(!isRepeated("the client secret", held))
        _ = held.hold(Array("client secret".utf8), at: now)
        #expect(isRepeated("the client secret", held))
    }

    @Test func `are remembered for ten minutes after the last who held them`() {
        var held = HeldSecrets(at: now - .seconds(5000))
        let first = held.hold(Array(Self.forms[0].utf8), at: now)
        let second = held.hold(Array(Self.forms[0].utf8), at: now)
        held.release(first, at: now)
        #expect(isRepeated(Self.forms[0], held, after: .seconds(10_000)))
        held.release(second, at: now + .seconds(100))
        #expect(isRepeated(Self.forms[0], held, after: .seconds(699)))
        #expect(!isRepeated(Self.forms[0], held, after: .seconds(702)))
        held.release(second, at: now + .seconds(800))
        #expect(!isRepeated(Self.forms[0], held, after: .seconds(801)), "nobody held it any more")
    }

    @Test(arguments: [
        "ab", "{\"d\":\"0123456789\"}", "-----BEGIN PRIVATE KEY-----\nabcdefgh", "12345678\n9",
    ])
    func `are no documents, and nothing that anybody may guess`(text: String) {
        var held = HeldSecrets(at: now)
        #expect(held.hold(Array(text.utf8), at: now).isEmpty && held.count == 0)
    }

    @Test func `that are short are found as a whole by who asks for them, and by nobody else`() {
        var held = HeldSecrets(at: now)
        let pieces = held.hold(Array("short7".utf8), at: now)
        let said = Array("bad SHORT7 refused".utf8)
        #expect(held.isShortRepeated(in: said, at: now) && !held.isRepeated(in: said, at: now))
        #expect(!held.isShortRepeated(in: Array("bad short refused".utf8), at: now))
        held.release(pieces, at: now)
        #expect(!held.isShortRepeated(in: said, at: now + HeldSecrets.memory + .seconds(1)))
    }

    @Test func `cost no more than they may, with ten thousand callers`() {
        var generator = RepeatableGenerator(seed: 1)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        func token() -> [UInt8] { (0..<200).map { _ in alphabet[Int(generator.next() % 64)] } }
        var held = HeldSecrets(at: now)
        let early = Array("early-secret-4711".utf8)
        _ = held.hold(early, at: now)
        var last: [UInt8] = []
        for number in 0..<20_000 {
            last = token()
            let pieces = held.hold(last, at: now + .milliseconds(number))
            // Half of them are the callers' own, and forgotten.
            if number.isMultiple(of: 2) { held.release(pieces, at: now + .milliseconds(number)) }
        }
        #expect(held.count <= HeldSecrets.most + 2000)
        for secret in [early, last] { #expect(held.isRepeated(in: secret, at: now + .seconds(30))) }
        #expect(held.isRepeated(in: last.prefix(8), at: now) && held.isRepeated(in: last.suffix(8), at: now))
        #expect(held.isRepeated(in: last[90..<130], at: now))
    }

    @Test func `are recognised though ten thousand callers with long tokens are there`() {
        var generator = RepeatableGenerator(seed: 3)
        func token(_ length: Int) -> [UInt8] {
            (0..<length).map { _ in UInt8(ascii: "a") + UInt8(generator.next() % 26) }
        }
        var held = HeldSecrets(at: now)
        for _ in 0..<20_000 { _ = held.hold(token(600), at: now) }
        let last = token(600)
        #expect(!held.hold(last, at: now).isEmpty)
        #expect(
            held.isRepeated(in: last.prefix(24), at: now) && held.isRepeated(in: last.suffix(24), at: now))
    }

    @Test func `are recognised though they have as many bytes as a head may`() {
        var held = HeldSecrets(at: now)
        let long = Array((0..<4000).map { "\($0)-" }.joined().utf8).prefix(1 << 14 + 100)
        _ = held.hold(long, at: now)
        #expect(held.count < 1000)
        #expect(
            held.isRepeated(in: long.prefix(20), at: now) && held.isRepeated(in: long[8000..<8040], at: now))
    }

    @Test func `never show, whatever they are and whatever stands around them`() {
        var generator = RepeatableGenerator(seed: 2)
        for round in 0..<60 {
            let length = Int(generator.next() % 60) + 8
            let secret = String(
                String.UnicodeScalarView(
                    (0..<length).map { _ in UnicodeScalar(UInt8(generator.next() % 95) + 0x20) }))
            var held = HeldSecrets(at: now)
            let kept = held.hold(Array(secret.utf8), at: now)
            // Such a text may look like a document.
            guard !kept.isEmpty else { continue }
            for (name, text) in Self.writings(of: secret) {
                let around = String(repeating: "word ", count: Int(generator.next() % 10))
                #expect(isRepeated(around + text + around, held), "\(round) \(name): \(secret)")
            }
        }
    }

    @Test func `are listed for as long as a secret is, and unless it is one request's`() {
        let text = "kept." + randomText()
        let other = "passing-" + randomText()
        let secret = Secret(text)
        let passing = Secret(unlisted: Array(other.utf8))
        withExtendedLifetime((secret, passing)) {
            #expect(SecretListing.isRepeated(in: "that is \(text)") && !SecretListing.isRepeated(in: other))
            #expect(!SecretListing.cleared("no: \(text)").contains(text))
            #expect(SecretListing.cleared("no: \(other)") == "no: \(other)")
        }
        #expect(SecretListing.isRepeated(in: text), "a while longer")
    }
}
