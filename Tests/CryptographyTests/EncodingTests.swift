// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@Suite struct `Encodings and hashes` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64 agrees with RFC 4648 section 10`(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == text)
        #expect(Base64.decode(text) == Array(bytes.utf8))
    }

    @Test(arguments: [
        "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9-", "Zg==Zg==", "é===",
    ])
    func `base64 that is not canonical is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `base64url agrees with RFC 7515 appendix C`() {
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
    }

    @Test(arguments: ["A-z_4ME=", "A+z/4ME", "A", "AB", "A-z_4MF", " "])
    func `base64url that is not canonical is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `every length survives both ways`() {
        for count in 0..<70 {
            let bytes = SecureRandom.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test func `SHA-256 agrees with FIPS 180 and the PKCE example of RFC 7636 appendix B`() {
        let abc = SHA256.digest(Array("abc".utf8))
        #expect(abc.prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
        let challenge = SHA256.digest(Array("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".utf8))
        #expect(Base64URL.encode(challenge) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(SHA256.digest([]).count == 32)
    }

    @Test func `random words do not repeat`() {
        let words = (0..<100).map { _ in SecureRandom.word() }
        #expect(Set(words).count == 100)
        #expect(words.allSatisfy { $0.utf8.count == 43 })
    }

    @Test func `constant-time comparison is equality`() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2], [1, 2]))
        #expect(!ConstantTime.equal([1, 2], [1, 3]))
        #expect(!ConstantTime.equal([1, 2], [1, 2, 3]))
    }
}
