// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import HTTPMessages

/// How requests of one kind are authorised: the one place where a credential gets into a head (RFC 6750 §2.1).
///
/// What is written is a function of the credential and of the request's method, target and head, whoever is asked: an
/// upstream, the userinfo endpoint, or the registration endpoint. A token looks the same in every request, so its field is
/// made once for each token, and overwritten in memory when the next one takes its place; that is all that a bearer token
/// needs. A token that is bound to a key (RFC 9449 §7) goes along with a proof of its own for each time that the request is
/// sent, which is made last, of method and target as they are sent, and is waited for.
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
    private var field = Secret(unlisted: [])

    package init(_ field: Field = Field()) {
        name = field.name
        scheme = field.scheme.isEmpty ? "" : field.scheme + " "
    }

    /// Authorises `request` with `token`, in place of whatever it has.
    ///
    /// A token that no field may hold is never sent, nor what was there.
    ///
    /// Where the token is bound to a key, the request lacks its ``proof(of:for:at:nonces:)`` as yet.
    package mutating func authorize(
        _ request: inout some AuthorizableRequest, with token: AccessTokenSnapshot
    ) {
        if token !== self.token { prepare(token) }
        request.fields.remove(name)
        if let form { request.fields.append(PreparedField(form, bytes: field.plaintextBytes)) }
    }

    /// What is to be signed for a request that was authorised, before it is sent, each time.
    ///
    /// - Parameters:
    ///   - token: that the request carries; another request may have been authorised since, with another one.
    ///   - request: ready to be sent, but for the proof.
    ///   - target: where it goes.
    ///   - nonces: of those who are asked.
    /// - Returns: nil for a bearer token, which needs no proof.
    package static func proof(
        of token: AccessTokenSnapshot, for request: some AuthorizableRequest, at target: ProofTarget,
        nonces: ProofNonces
    ) -> Proof? {
        token.binding?.proof(for: request.method.rawValue, at: target, nonce: nonces[target.origin])
    }

    /// Puts a signed proof into its request, in place of an earlier one.
    package static func put(proof: String, into request: inout some AuthorizableRequest) {
        request.fields.remove(.dpop)
        request.fields.append(.dpop, proof)
    }

    /// Authorises a request to `target` as a whole, its proof included.
    ///
    /// - Throws: `JOSEError` where that cannot be signed.
    package mutating func authorize<Request: AuthorizableRequest & Sendable>(
        _ request: Request, at target: ProofTarget, with token: AccessTokenSnapshot, by signer: ProofSigner
    ) async throws(JOSEError) -> Request {
        var authorized = request
        authorize(&authorized, with: token)
        if let proof = Self.proof(of: token, for: authorized, at: target, nonces: signer.nonces) {
            Self.put(proof: try await signer.sign(proof), into: &authorized)
        }
        return authorized
    }

    /// Authorises `request` with a token that only this one carries.
    package static func authorize(
        _ request: inout some AuthorizableRequest, withBearer token: Secret, in field: Field = Field()
    ) {
        var authorization = RequestAuthorization(field)
        authorization.authorize(
            &request, with: AccessTokenSnapshot(generation: 0, token: token, expiry: .now))
    }

    /// Takes away what somebody else has put in the credential's place.
    package func clear(_ request: inout some AuthorizableRequest) { request.fields.remove(name) }

    /// What stands before `token`; a scheme of the configuration's own stays.
    private func scheme(of token: AccessTokenSnapshot) -> String {
        token.isBound && scheme.lowercased() == "bearer " ? "DPoP " : scheme
    }

    private mutating func prepare(_ token: AccessTokenSnapshot) {
        self.token = token
        let scheme = scheme(of: token)
        let prepared = token.token.withPlaintextBytes { PreparedField(name, bytes: $0, behind: scheme) }
        form = prepared?.form
        field = Secret(unlisted: prepared?.bytes ?? [])
    }
}

/// A request that can be authorised: what a credential is put into, and may be made of.
package protocol AuthorizableRequest {
    var method: HTTPMethod { get }
    var fields: HTTPFields { get set }
}

extension HTTPRequest: AuthorizableRequest {}

extension TransferRequest: AuthorizableRequest {}
