// SPDX-License-Identifier: Apache-2.0

import CBearerdOpenSSL
import Glibc

/// Judges proofs of possession (RFC 9449 section 4.3), and believes nothing.
///
/// One for a server: the nonces of an authorization server are not those of a resource server.
package final class ProofJudge: Sendable {
    /// The result of checking a request's proof.
    package enum Verdict: Equatable, Sendable {
        /// The thumbprint of the key that was proved.
        case good(String)
        /// The proof is right but for the nonce.
        case nonceWanted
        case bad(String)
    }

    private struct State {
        var nonce: String?
        var rotates = false
        var seen: Set<String> = []
        var faults: [String] = []
        var proofs: [TestToken] = []
        var challenges = 0
    }

    private let state: Monitor<State>

    /// - Parameters:
    ///   - nonce: that proofs must have; nil to want none.
    ///   - rotates: whether each answer tells another one.
    package init(nonce: String? = nil, rotates: Bool = false) {
        state = Monitor(State(nonce: nonce, rotates: rotates))
    }

    /// Why proofs were refused, but for their nonce.
    package var faults: [String] { state.withLock { $0.faults } }

    /// Every proof so far, whatever came of it.
    package var proofs: [TestToken] { state.withLock { $0.proofs } }

    /// How often a proof lacked the nonce.
    package var challenges: Int { state.withLock { $0.challenges } }

    /// Wants another nonce from now on.
    package func want(_ nonce: String) { state.withLock { $0.nonce = nonce } }

    /// The fields for a response: the nonce for the next proof, if nonces are required.
    package var answerFields: [(String, String)] {
        state.withLock { state in
            if state.rotates { state.nonce = "nonce-" + randomText() }
            return state.nonce.map { [("DPoP-Nonce", $0)] } ?? []
        }
    }

    /// - Parameters:
    ///   - url: that the proof must name.
    ///   - token: that it must go along with; nil for none.
    package func judge(_ request: RawRequest, at url: String, token: String? = nil) -> Verdict {
        let values = request.head.values("DPoP")
        guard values.count == 1, let proof = TestToken(values[0]) else {
            return fault("\(values.count) proofs, or none that can be read")
        }
        state.withLock { $0.proofs.append(proof) }
        if let flaw = flaw(of: proof, request.head.method, url, token) { return fault(flaw) }
        let isKnown = state.withLock { state in
            guard let wanted = state.nonce else { return true }
            if proof.claims["nonce"].string == wanted { return true }
            state.challenges += 1
            return false
        }
        return isKnown ? .good(thumbprint(of: proof.header["jwk"])) : .nonceWanted
    }

    private func fault(_ text: String) -> Verdict {
        state.withLock { $0.faults.append(text) }
        return .bad(text)
    }

    private func flaw(of proof: TestToken, _ method: String, _ url: String, _ token: String?) -> String? {
        let (claims, jwk) = (proof.claims, proof.header["jwk"])
        guard proof.header["typ"].string == "dpop+jwt" else { return "typ" }
        guard Set(jwk.object.keys).isSubset(of: ["kty", "crv", "x", "y"]) else {
            return "more than a public key"
        }
        guard isSigned(proof, by: jwk) else { return "the signature" }
        guard claims["htm"].string == method else { return "htm is \(claims["htm"])" }
        guard claims["htu"].string == url else { return "htu is \(claims["htu"]), not \(url)" }
        guard claims["ath"].string == token.map({ digest($0) }) else { return "ath" }
        guard let age = claims["iat"].number.map({ Double(time(nil)) - $0 }), abs(age) < 60 else {
            return "iat"
        }
        guard let identifier = claims["jti"].string, identifier.utf8.count >= 16 else { return "jti" }
        let isFresh = state.withLock { $0.seen.insert(identifier).inserted }
        return isFresh ? nil : "jti was used before"
    }

    private func isSigned(_ proof: TestToken, by jwk: TestJSON) -> Bool {
        switch (proof.header["alg"].string, jwk["kty"].string, jwk["crv"].string) {
        case ("ES256", "EC", "P-256"):
            guard let x = jwk.octets("x"), let y = jwk.octets("y"), x.count == 32, y.count == 32 else {
                return false
            }
            return verifies(
                proof.signed, TestKeyPair.der(of: proof.signature), EVP_sha256(),
                key: Self.p256 + [4] + x + y)
        case ("EdDSA", "OKP", "Ed25519"):
            guard let x = jwk.octets("x"), x.count == 32 else { return false }
            return verifies(proof.signed, proof.signature, nil, key: Self.ed25519 + x)
        default:
            return false
        }
    }

    /// The bytes before the point in a SubjectPublicKeyInfo for P-256.
    private static let p256: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
        0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    private static let ed25519: [UInt8] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    private func verifies(
        _ text: String, _ signature: [UInt8], _ digest: OpaquePointer?, key: [UInt8]
    ) -> Bool {
        let message = Array(text.utf8)
        return key.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &start, buffer.count) else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    /// RFC 7638.
    private func thumbprint(of jwk: TestJSON) -> String {
        func member(_ name: String) -> String { jwk[name].string ?? "" }
        return digest(
            jwk["kty"].string == "EC"
                ? #"{"crv":"\#(member("crv"))","kty":"EC","x":"\#(member("x"))","y":"\#(member("y"))"}"#
                : #"{"crv":"\#(member("crv"))","kty":"OKP","x":"\#(member("x"))"}"#)
    }

    private func digest(_ text: String) -> String { sha256(text) }
}

/// The SHA-256 of a text in base64url.
package func sha256(_ text: String) -> String {
    let message = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
    return base64URLEncoded(digest)
}

/// Bytes in base64url without padding.
private func base64URLEncoded(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        count += 8
        while count >= 6 {
            count -= 6
            text.append(alphabet[Int(bits >> UInt32(count)) & 63])
        }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count)) & 63]) }
    return text
}

extension TestJSON {
    fileprivate func octets(_ member: String) -> [UInt8]? {
        self[member].string.flatMap {
            base64Decoded($0.replacing("-", with: "+").replacing("_", with: "/"))
        }
    }
}
