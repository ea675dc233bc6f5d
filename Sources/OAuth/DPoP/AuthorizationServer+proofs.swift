// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// DPoP proofs for the server's own endpoints (RFC 9449 §5, §8, §10).
extension AuthorizationServer {
    /// The key of a session's proofs.
    ///
    /// - Parameters:
    ///   - known: the session's key, which stays for as long as the session; nil while it has none.
    ///   - grant: the grant of the request that is to be proved; nil for one that begins a session.
    /// - Returns: nil if tokens are not to be bound.
    /// - Throws: ``TokenFailure`` if the server's metadata are needed and cannot be had, or no key can be made.
    func proofKey(_ known: ProofKey?, for grant: Grant? = nil) async throws(TokenFailure) -> ProofKey? {
        let algorithm = configuration.proofAlgorithm
        switch configuration.proofs {
        case .never:
            // A refresh token, or a code, may be bound to the key with which its session or login began (RFC 9449 §5, §10).
            switch grant {
            case .refresh, .authorizationCode: return known
            case .original, .onBehalf, .deviceCode, .request, nil: return nil
            }
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
        let target = DPoPTarget(request.url)
        let proof = DPoPProof(
            key: key, header: DPoPProof.header(of: key), method: request.method.rawValue, target: target,
            nonce: nonces[target.origin])
        do throws(JOSEError) {
            request.fields[.dpop] = try proof.signed(at: clock.wallNow)
        } catch {
            throw TokenFailure(.transient, .noProof, detail: "the proof for DPoP cannot be signed")
        }
    }
}

extension TransportResponse {
    /// True if the server refuses a request for its nonce alone, and has sent another one (RFC 9449 §8).
    var asksForNonce: Bool {
        (status == 400 || status == 401) && fields.contains(.dpopNonce)
            && ResponseBody(body).code == .useDPoPNonce
    }
}

extension ClientConfiguration {
    /// The algorithm of proofs: `ES256`, or `EdDSA` if assertions have that.
    var proofAlgorithm: JWSAlgorithm { assertion.algorithm == .edDSA ? .edDSA : .es256 }
}
