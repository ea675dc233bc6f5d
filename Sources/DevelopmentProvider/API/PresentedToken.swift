// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import OAuth

/// The access token of a request, parsed but not verified.
struct PresentedToken {
    /// The authentication scheme.
    enum Scheme: String {
        /// RFC 6750 §2.1.
        case bearer = "Bearer"
        /// RFC 9449 §7.1.
        case dpop = "DPoP"
    }

    let scheme: Scheme
    let text: String
    let token: JWS

    /// - Throws: ``BearerRefusal``.
    init(of request: ServiceRequest) throws(BearerRefusal) {
        guard request.head.fields.count(of: .authorization) <= 1 else {
            throw .invalidToken("more than one Authorization field")
        }
        let shown: [(Scheme, String)] = [.bearer, .dpop].compactMap { scheme in
            request.credentials(scheme.rawValue).map { (scheme, $0) }
        }
        guard let (scheme, text) = shown.first else { throw .noToken }
        guard let token = try? JWS(compact: text) else {
            throw .invalidToken("the token is not a signed JWT", scheme)
        }
        (self.scheme, self.text, self.token) = (scheme, text, token)
    }
}
