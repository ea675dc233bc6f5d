// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import HTTPMessages

/// How requests of one kind are authorised: the one place where a credential gets into a head (RFC 6750 §2.1).
///
/// What is written is a function of the credential and of the request's method, target and head, whoever is asked: an
/// upstream, the userinfo endpoint, or the registration endpoint. A bearer token looks the same in every request, so its
/// field is made once for each token, and overwritten in memory when the next one takes its place. What proves possession
/// of a key (RFC 9449 §4.2) would be made of method and target here.
package struct RequestAuthorization {
    /// The field that carries the credential, and what stands before it.
    package struct Field: Hashable, Sendable {
        package var name: HTTPFields.Name
        /// Empty for none.
        package var scheme: String

        package init(name: HTTPFields.Name = .authorization, scheme: String = "Bearer") {
            self.name = name
            self.scheme = scheme
        }
    }

    private let name: HTTPFields.Name
    /// What stands before the credential.
    private let scheme: String
    private var token: AccessTokenSnapshot?
    /// The field with the token, but for what is secret of it; nil where no field may hold the token.
    private var form: PreparedField.Form?
    private var field = Secret(bytes: [])

    package init(_ field: Field = Field()) {
        name = field.name
        scheme = field.scheme.isEmpty ? "" : field.scheme + " "
    }

    /// Authorises `request` with `token`, in place of whatever it has.
    ///
    /// A token that no field may hold is never sent, nor what was there.
    package mutating func authorize(
        _ request: inout some AuthorizableRequest, with token: AccessTokenSnapshot
    ) {
        if token !== self.token { prepare(token) }
        request.fields.remove(name)
        if let form { request.fields.append(PreparedField(form, bytes: field.plaintextBytes)) }
    }

    /// Authorises `request` with a token that only this one carries.
    package static func authorize(_ request: inout some AuthorizableRequest, withBearer token: Secret) {
        var authorization = RequestAuthorization()
        authorization.authorize(
            &request, with: AccessTokenSnapshot(generation: 0, token: token, expiry: .now))
    }

    /// Takes away what somebody else has put in the credential's place.
    package func clear(_ request: inout some AuthorizableRequest) { request.fields.remove(name) }

    private mutating func prepare(_ token: AccessTokenSnapshot) {
        self.token = token
        let prepared = token.token.withPlaintextBytes { PreparedField(name, bytes: $0, behind: scheme) }
        form = prepared?.form
        field = Secret(bytes: prepared?.bytes ?? [])
    }
}

/// A request that can be authorised: what a credential is put into, and may be made of.
package protocol AuthorizableRequest {
    var method: HTTPMethod { get }
    var fields: HTTPFields { get set }
}

extension HTTPRequest: AuthorizableRequest {}

extension TransferRequest: AuthorizableRequest {}
