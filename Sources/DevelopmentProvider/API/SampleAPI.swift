// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
package import BearerdHTTPServer
import BearerdJSON
package import OAuth
import Synchronization

/// A protected resource for trials and tests, which shows the request that arrived and the user of its token.
///
/// No response contains the token.
package final class SampleAPI: HTTPResponder {
    /// The resources by their path.
    private enum Resource: String {
        /// The token's claims.
        case whoami = "/whoami"
        /// The request as it arrived.
        case echo = "/echo"
        /// Server-sent events, one a second or every `?interval_ms=`; `?count=` of them, or without end.
        case events = "/events"
    }

    private let issuers: [TrustedIssuer]
    private let wallNow: @Sendable () -> WallTime
    private let proofs = Mutex(ProofVerifier())

    /// Makes an API.
    ///
    /// - Parameters:
    ///   - issuers: the issuers whose tokens it accepts.
    ///   - wallNow: the civil clock, for `exp`.
    package init(trusting issuers: [TrustedIssuer], wallNow: @escaping @Sendable () -> WallTime) {
        self.issuers = issuers
        self.wallNow = wallNow
    }

    package func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        let claims: JSONObject
        do throws(BearerRefusal) {
            claims = try await self.claims(of: request)
        } catch {
            return .refused(error.reply)
        }
        switch Resource(rawValue: request.path) {
        case .whoami: return .answered { .json(self.whoami(claims, request)) }
        case .echo:
            return .answered(withBody: { body in
                var whole = request
                whole.body = body
                return .json(RequestDescription.full(whole))
            })
        case .events: return .answered { EventTicker(request.query).reply }
        case nil: return .refused(.plain(status: 404))
        }
    }

    /// Returns the claims of a request's token.
    func claims(of request: ServiceRequest) async throws(BearerRefusal) -> JSONObject {
        let presented = try PresentedToken(of: request)
        let claimed = presented.token.claims?[.issuer]?.string
        guard let issuer = issuers.first(where: { $0.issuer == claimed }) else {
            throw .invalidToken("the token is from an issuer that is not trusted", presented.scheme)
        }
        let verifier = DevelopmentTokenVerifier(
            issuer: issuer.issuer, keys: await issuer.keys(), isRevoked: issuer.isRevoked)
        let now = wallNow()
        let claims = try verifier.claims(of: presented, at: now)
        let url = "http://\(request.head.fields[.host] ?? "")\(request.path)"
        try proofs.withLock { proofs throws(BearerRefusal) in
            try proofs.check(presented, with: claims, of: request, to: url, at: now)
        }
        return claims
    }

    private func whoami(_ claims: JSONObject, _ request: ServiceRequest) -> JSONObject {
        var answer = claims
        answer["request"] = .object(RequestDescription.line(request))
        return answer
    }
}
