// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProofVerifier {
    /// Checks the scheme of a token and, if it is bound to a key, its proof (RFC 9449 §7.1).
    ///
    /// - Parameters:
    ///   - presented: the token.
    ///   - claims: the token's claims.
    ///   - request: the request with the token.
    ///   - url: the URL of the request without its query.
    ///   - now: the civil time.
    /// - Throws: ``BearerRefusal``.
    mutating func check(
        _ presented: PresentedToken, with claims: JSONObject, of request: ServiceRequest, to url: String,
        at now: WallTime
    ) throws(BearerRefusal) {
        let bound = claims[.confirmation]?[Member.keyThumbprint.rawValue]?.string
        switch (presented.scheme, bound) {
        case (.bearer, nil): return
        case (.bearer, _?):
            throw .invalidToken("the token is bound to a key; it needs the scheme DPoP and a proof", .dpop)
        case (.dpop, nil): throw .invalidToken("the token is bound to no key; its scheme is Bearer")
        case (.dpop, let bound?):
            let proven: String?
            do throws(ProofError) {
                proven = try thumbprint(of: request, to: url, with: presented.text, at: now)
            } catch {
                throw .invalidProof(error.reason)
            }
            guard let proven else { throw .invalidProof("there is no field DPoP") }
            guard proven == bound else { throw .invalidToken("the token is bound to another key", .dpop) }
        }
    }
}
