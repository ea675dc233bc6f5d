// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import JSON

/// Proofs of possession for the server's own endpoints (RFC 9449 §5, §8, §10).
extension AuthorizationServer {
    /// The key that a session's requests are proved with.
    ///
    /// - Parameter known: the session's; it never changes as long as the session lasts.
    /// - Returns: nil where tokens are not to be bound to one.
    /// - Throws: ``TokenFailure`` if nobody can say whether the server binds tokens, or no key can be made.
    func proofKey(_ known: ProofKey?) async throws(TokenFailure) -> ProofKey? {
        let algorithm = configuration.proofAlgorithm
        switch configuration.proofs {
        case .never: return nil
        case .always: break
        case .whereOffered:
            if let known { return known }
            let offered = try await metadataIfPublished()?.document[MetadataMember.proofAlgorithms.rawValue]
            guard offered?.array?.contains(where: { $0.string == algorithm.rawValue }) ?? false else {
                return nil
            }
        }
        if let known { return known }
        do throws(JOSEError) {
            return try ProofKey.generate(for: algorithm)
        } catch {
            throw TokenFailure(.transient, .noProof, detail: "no key for DPoP can be made")
        }
    }

    /// Puts a new proof into a request to the server.
    ///
    /// - Throws: ``TokenFailure`` if none can be made.
    func prove(_ request: inout TransferRequest, with key: ProofKey) throws(TokenFailure) {
        let target = ProofTarget(request.url)
        let proof = Proof(
            key: key, header: Proof.header(of: key), method: request.method.rawValue, target: target,
            nonce: nonces[target.origin])
        do throws(JOSEError) {
            request.fields[.dpop] = try proof.signed(at: clock.wallNow)
        } catch {
            throw TokenFailure(.transient, .noProof, detail: "the proof for DPoP cannot be signed")
        }
    }
}

extension ProviderResponse {
    /// Whether the server refuses a request for its nonce alone, and has said which it wants (RFC 9449 §8).
    var asksForNonce: Bool {
        (status == 400 || status == 401) && fields.contains(.dpopNonce)
            && AnswerBody(body).code == .useDPoPNonce
    }
}

extension ClientConfiguration {
    /// What proofs are signed with: `ES256`, unless what signs assertions is `EdDSA`.
    var proofAlgorithm: JWSAlgorithm { assertion.algorithm == .edDSA ? .edDSA : .es256 }
}
