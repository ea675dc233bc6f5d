// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@Suite struct `AES-256-GCM` {
    private let cipher: AESGCM
    private let context = Array("bearerd default".utf8)

    init() throws {
        cipher = try #require(AESGCM(key: Secret(bytes: Array(0..<32))))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 100_000])
    func `gives back what went in`(length: Int) {
        let plaintext = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = cipher.seal(plaintext, context: context)
        #expect(sealed.count == 12 + length + 16)
        #expect(cipher.open(sealed, context: context) == plaintext)
    }

    @Test func `opens what another implementation sealed`() throws {
        // NIST's gcmEncryptExtIV256.rsp: Keylen 256, IVlen 96, PTlen 128, AADlen 128, Taglen 128, Count 0.
        let key = try #require(
            Hexadecimal.decode("92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b"))
        let sealed = try #require(
            Hexadecimal.decode(
                "ac93a1a6145299bde902f21a" + "8995ae2e6df3dbf96fac7b7137bae67f"
                    + "eca5aa77d51d4a0a14d9c51e1da474ab"))
        let aad = try #require(Hexadecimal.decode("1e0889016f67601c8ebea4943bc23ad6"))
        let plaintext = try #require(AESGCM(key: Secret(bytes: key))).open(sealed, context: aad)
        #expect(plaintext == Hexadecimal.decode("2d71bcfa914e4ac045b2aa60955fad24"))
    }

    @Test func `never uses a nonce twice`() {
        let nonces = (0..<1000).map { _ in Array(cipher.seal([], context: []).prefix(12)) }
        #expect(Set(nonces).count == 1000)
    }

    @Test func `opens nothing with another key or context, nor anything cut or changed by a bit`() throws {
        let sealed = cipher.seal(Array("refresh-token".utf8), context: context)
        let other = try #require(AESGCM(key: Secret(bytes: Array(1...32))))
        #expect(other.open(sealed, context: context) == nil)
        #expect(cipher.open(sealed, context: context + [0]) == nil)
        for length in sealed.indices {
            #expect(cipher.open(Array(sealed.prefix(length)), context: context) == nil)
        }
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(cipher.open(changed, context: context) == nil)
        }
    }

    @Test(arguments: [
        (String(repeating: "0f", count: 32), true), (String(repeating: "0F", count: 32), true),
        ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", true),
        ("__ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", true), ("", false), ("hunter2", false),
        (String(repeating: "0f", count: 31), false), (String(repeating: "0g", count: 32), false),
        ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==", false), (String(repeating: "A", count: 32), false),
    ])
    func `takes a key of 32 bytes in hexadecimal or base64`(text: String, isKey: Bool) {
        #expect((SealingKey.bytes(of: Secret(text)) != nil) == isKey)
    }
}
