// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// Reads credentials, and makes client authentication and grants of them.
struct CredentialReader {
    var configuration: ClientConfiguration
    let source: any CredentialSource
    /// The secret of a registered client; it takes the place of the configured one.
    var registeredSecret: Secret?

    /// The name of a credential for an error.
    func key(of credential: Credential) -> String {
        source.configuredKey(of: credential) ?? configuration.name(of: credential)
    }

    /// A credential; throws if none is configured.
    func require(_ credential: Credential) async throws(TokenFailure) -> Secret {
        if let found = try await read(credential) { return found }
        throw TokenFailure(
            .misconfigured, .noCredential(credential),
            detail: "no \(configuration.name(of: credential)) is configured")
    }

    /// A credential as it is now; nil if none is configured.
    func read(_ credential: Credential) async throws(TokenFailure) -> Secret? {
        if credential == .clientSecret, let registeredSecret { return registeredSecret }
        do throws(CredentialError) {
            return try await source.read(credential)
        } catch {
            throw TokenFailure(
                .misconfigured, .unreadableCredential(credential),
                detail: "\(key(of: credential)): \(error.reason)")
        }
    }

    /// The client authentication of a request; `audience` is called only if it is needed.
    func clientProof(
        for audience: () async throws(TokenFailure) -> String, at wall: @autoclosure () -> WallTime
    ) async throws(TokenFailure) -> ClientProof {
        let clientID = configuration.clientID
        switch configuration.authentication {
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth:
            return .identifier
        case .basic:
            return .basic(try await require(.clientSecret))
        case .post:
            return .secret(try await require(.clientSecret))
        case .clientSecretJWT:
            let signer = AssertionSigner(
                key: .secret(try await require(.clientSecret)), settings: configuration.assertion)
            return .assertion(
                try await sign(with: signer, subject: clientID, for: audience, at: wall()))
        case .privateKeyJWT:
            // With `jwt_bearer` the ready-made assertion is the grant.
            if configuration.grantType != .jwtBearer, let ready = try await read(.assertion) {
                return configuration.assertion.isVerifiableIdentityDocument
                    ? .verifiableIdentityDocument(ready) : .assertion(ready)
            }
            return .assertion(
                try await sign(with: pairSigner(), subject: clientID, for: audience, at: wall()))
        }
    }

    /// The password, subject token or assertion of a configured grant; nil for a grant without one.
    func grantProof(
        for audience: () async throws(TokenFailure) -> String, at wall: @autoclosure () -> WallTime
    ) async throws(TokenFailure) -> Secret? {
        switch configuration.grantType {
        case .password:
            return try await require(.password)
        case .tokenExchange:
            return try await require(.subjectToken)
        case .jwtBearer:
            if let ready = try await read(.assertion) { return ready }
            let settings = configuration.assertion
            return try await sign(
                with: pairSigner(), subject: settings.subject ?? configuration.clientID, isGrant: true,
                for: audience, at: wall())
        default:
            return nil
        }
    }

    private func sign(
        with signer: AssertionSigner, subject: String, isGrant: Bool = false,
        for audience: () async throws(TokenFailure) -> String, at wall: @autoclosure () -> WallTime
    ) async throws(TokenFailure) -> Secret {
        let audience = try await audience()
        do throws(JOSEError) {
            return try signer.assertion(
                issuer: configuration.clientID, subject: subject, audience: audience,
                claims: isGrant ? configuration.assertion.claims : [:], at: wall())
        } catch {
            throw unusable(signer.key.credential, "cannot sign with the algorithm that is configured")
        }
    }

    /// The public part of the key that signs client assertions; nil if no key of ours does.
    func publicKey() async throws(TokenFailure) -> JSONObject? {
        guard configuration.authentication == .privateKeyJWT else { return nil }
        if configuration.grantType != .jwtBearer, try await read(.assertion) != nil { return nil }
        let settings = configuration.assertion
        return try await privateKey().publicJWK(keyID: settings.keyID, algorithm: settings.algorithm)
    }

    private func privateKey() async throws(TokenFailure) -> PrivateKey {
        let text = try await require(.privateKey)
        guard let key = try? PrivateKey(parsing: text) else {
            throw unusable(.privateKey, "holds no private key in PEM or JWK that can be used")
        }
        return key
    }

    private func pairSigner() async throws(TokenFailure) -> AssertionSigner {
        let key = try await privateKey()
        var certificate: Certificate?
        if let text = try await read(.assertionCertificate) {
            certificate = text.withPlaintext { Certificate(pem: Array($0.utf8)) }
            guard certificate != nil else {
                throw unusable(.assertionCertificate, "holds no certificate in PEM")
            }
        }
        return AssertionSigner(key: .pair(key, certificate), settings: configuration.assertion)
    }

    private func unusable(_ credential: Credential, _ reason: String) -> TokenFailure {
        TokenFailure(
            .misconfigured, .badCredential(credential),
            detail: "\(key(of: credential)) \(reason)")
    }
}
