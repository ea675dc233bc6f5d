// SPDX-License-Identifier: Apache-2.0

import Cryptography

extension AuthorizationServer {
    /// Checks that the server signed these claims, with one of the keys that it publishes.
    ///
    /// - Throws: ``TokenFailure`` if it did not, or there is no telling.
    func verify(userinfo signed: JWS) async throws(TokenFailure) {
        guard try await publishedKeys.flaw(in: signed, fetchingWith: self) == nil else {
            throw TokenFailure(
                .misconfigured, .badSignature,
                detail: "the signature of the userinfo of \(name) does not verify")
        }
    }
}
