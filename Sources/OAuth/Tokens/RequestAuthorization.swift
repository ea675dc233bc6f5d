// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdHTTPMessages

/// Puts access tokens into requests (RFC 6750 §2.1): to upstreams, the userinfo endpoint and the registration endpoint.
///
/// The field is made once for each token, and overwritten in memory when the next token replaces it. A token that is bound
/// to a key (RFC 9449 §7) needs a DPoP proof too, made of the final method and target each time that the request is sent.
package struct RequestAuthorization {
    /// The field for the token, and the scheme in front of it.
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
    /// With a space at its end; empty for none.
    private let scheme: String
    private var token: AccessTokenSnapshot?
    /// The field without the secret; nil if the token has bytes that no field may hold.
    private var form: PreparedField.Form?
    private var field = Secret(unlisted: [])

    package init(_ field: Field = Field()) {
        name = field.name
        scheme = field.scheme.isEmpty ? "" : field.scheme + " "
    }

    /// Puts `token` into `request`, in place of what the field had.
    ///
    /// A token that no field may hold is left out. One that is bound to a key needs a ``proof(of:for:at:nonces:)`` too.
    package mutating func authorize(
        _ request: inout some AuthorizableRequest, with token: AccessTokenSnapshot
    ) {
        if token !== self.token { prepare(token) }
        request.fields.remove(name)
        if let form {
            request.fields.append(PreparedField(form, bytes: field.plaintextBytes, isNeverIndexed: true))
        }
    }

    /// The proof to sign for a request with `token` each time before it is sent; nil for a bearer token.
    ///
    /// - Parameters:
    ///   - request: final but for the proof.
    ///   - nonces: those of the servers of this kind.
    package static func proof(
        of token: AccessTokenSnapshot, for request: some AuthorizableRequest, at target: DPoPTarget,
        nonces: DPoPNonces
    ) -> DPoPProof? {
        token.binding?.proof(for: request.method.rawValue, at: target, nonce: nonces[target.origin])
    }

    /// Puts a signed proof into a request, in place of an earlier one.
    package static func put(proof: String, into request: inout some AuthorizableRequest) {
        request.fields.remove(.dpop)
        request.fields.append(.dpop, proof)
    }

    /// Puts a token and, where it needs one, a signed proof into a request to `target`.
    ///
    /// - Throws: `JOSEError` if the proof cannot be signed.
    package mutating func authorize<Request: AuthorizableRequest & Sendable>(
        _ request: Request, at target: DPoPTarget, with token: AccessTokenSnapshot, by signer: DPoPSigner
    ) async throws(JOSEError) -> Request {
        var authorized = request
        authorize(&authorized, with: token)
        if let proof = Self.proof(of: token, for: authorized, at: target, nonces: signer.nonces) {
            Self.put(proof: try await signer.sign(proof), into: &authorized)
        }
        return authorized
    }

    /// Puts a bearer token into one request.
    package static func authorize(
        _ request: inout some AuthorizableRequest, withBearer token: Secret, in field: Field = Field()
    ) {
        var authorization = RequestAuthorization(field)
        authorization.authorize(
            &request, with: AccessTokenSnapshot(generation: 0, token: token, expiry: .now))
    }

    /// Removes the field that the token would have.
    package func clear(_ request: inout some AuthorizableRequest) { request.fields.remove(name) }

    /// The scheme of `token`; a configured scheme other than Bearer stays.
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

/// A request that a token can be put into.
package protocol AuthorizableRequest {
    var method: HTTPMethod { get }
    var fields: HTTPFields { get set }
}

extension HTTPRequest: AuthorizableRequest {}

extension TransferRequest: AuthorizableRequest {}
