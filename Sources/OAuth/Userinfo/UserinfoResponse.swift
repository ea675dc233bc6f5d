// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import BearerdJSONText

/// A response of the userinfo endpoint (OpenID Connect Core §5.3.2).
package struct UserinfoResponse {
    private static let subject = "sub"

    private let claims: JSONObject
    /// The URL that answered, for error messages.
    private let place: String
    /// The signed claims, to be verified first; nil for plain JSON.
    package let signed: JWS?

    /// Throws a ``TokenFailure`` for anything but claims.
    package init(_ response: TransportResponse) throws(TokenFailure) {
        guard response.status == 200 else { throw Self.failure(response) }
        place = response.place
        let type = response.fields[.contentType]?.lowercased() ?? ""
        guard !type.hasPrefix("application/jwt") else {
            guard let signed = try? JWS(compact: String(decoding: response.body, as: UTF8.self)),
                let claims = signed.claims
            else {
                throw TokenFailure(
                    .misconfigured, .badUserinfo,
                    detail: "the userinfo of \(place) is no signed JSON; an encrypted one cannot be read here"
                )
            }
            self.signed = signed
            self.claims = claims
            return
        }
        signed = nil
        guard case .object(let claims) = ResponseBody(response.body) else {
            throw TokenFailure(
                .transient, .badUserinfo,
                detail: "what \(place) answers is no JSON object")
        }
        self.claims = claims
    }

    /// The claims, whose `sub` must be that of the ID token (§5.3.4), unless the session has none.
    ///
    /// - Throws: ``TokenFailure`` if the `sub` is missing or another one.
    package func claims(about idToken: Secret?) throws(TokenFailure) -> Userinfo {
        guard let subject = claims[Self.subject]?.string, !subject.isEmpty else {
            throw TokenFailure(
                .misconfigured, .noSubject, detail: "the userinfo of \(place) has no sub")
        }
        let userinfo = Userinfo(subject: subject, claims: claims)
        guard let idToken else { return userinfo }
        let expected = idToken.withPlaintext { (try? JWS(compact: $0))?.claims?[Self.subject]?.string }
        guard subject.hasSameBytes(as: expected) else {
            throw TokenFailure(
                .misconfigured, .subjectMismatch,
                detail: "the userinfo of \(place) is about another sub than the id token: it is not shown")
        }
        return userinfo
    }

    private static func failure(_ response: TransportResponse) -> TokenFailure {
        let detail = response.failureDetail
        let reason = TokenFailure.Reason(ResponseBody(response.body).code, status: response.status)
        let isRefused = response.status == 401 || response.status == 403
        let hint = isRefused ? "; it refuses the token: does its scope hold openid?" : ""
        return TokenFailure(isRefused ? .misconfigured : .transient, reason, detail: detail + hint)
            .refused(in: .resourceServer, response)
    }
}
