// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import OAuth

extension Section<IdentityKey> {
    /// The sources of an identity's credentials, each checked as far as possible without the provider.
    func credentials(_ preset: Preset?) -> [Credential: SecretSource] {
        var sources: [Credential: SecretSource] = [:]
        sources[.clientSecret] = secret(.clientSecret)
        sources[.password] = secret(.password)
        sources[.initialAccessToken] = secret(.initialAccessToken)
        sources[.privateKey] = file(.privateKeyFile, check: checkPrivateKey)
        sources[.assertion] = file(.assertionFile)
        sources[.subjectToken] = file(.subjectTokenFile)
        if preset?.exchangesAssertion == true, sources[.subjectToken] == nil {
            sources[.subjectToken] = sources.removeValue(forKey: .assertion)
        }
        let key = try? sources[.privateKey].map { try PrivateKey(parsing: $0.read()) }
        sources[.assertionCertificate] = file(.assertionCertificateFile, isPublic: true) { text in
            guard let certificate = text.withPlaintext({ Certificate(pem: Array($0.utf8)) })
            else { return "holds no certificate in PEM" }
            guard let key, !certificate.certifies(key) else { return nil }
            return "certifies another key than private_key_file's"
        }
        return sources
    }

    /// The keys of the configuration that name the credentials.
    func credentialKeys(of credentials: [Credential: SecretSource]) -> [Credential: String] {
        credentials.keys.reduce(into: [:]) { keys, credential in
            let key: IdentityKey? =
                switch credential {
                case .clientSecret: .clientSecret
                case .password: .password
                case .initialAccessToken: .initialAccessToken
                case .privateKey: .privateKeyFile
                case .assertion: .assertionFile
                case .assertionCertificate: .assertionCertificateFile
                case .token: .token
                case .identityHeader: nil  // a variable of the environment
                case .subjectToken: has(.subjectTokenFile) ? .subjectTokenFile : .assertionFile
                }
            keys[credential] = key.map { spelling(ofSecret: $0) }
        }
    }

    func checkPrivateKey(_ text: Secret) -> String? {
        guard let key = try? PrivateKey(parsing: text) else {
            return
                "holds no private key that can be used: PEM without a passphrase or a JWK, RSA of 2048 bits, P-256 or Ed25519"
        }
        guard let algorithm = value(.signingAlgorithm, .signingAlgorithm)?.value, !key.fits(algorithm)
        else { return nil }
        return "holds a key for \(key.algorithm.rawValue), not for the \(algorithm.rawValue) of signing_alg"
    }

    /// A file with a credential, read anew at each use.
    func file(_ key: IdentityKey, isPublic: Bool = false) -> SecretSource? {
        secretFile(key, isPublic: isPublic).map { .file(path: $0) }
    }

    /// A file with a credential, read anew at each use, that must hold what is needed from the beginning.
    ///
    /// - Parameter check: returns the objection to the content, to be put after the file's path.
    func file(
        _ key: IdentityKey, isPublic: Bool = false, check: (Secret) -> String?
    ) -> SecretSource? {
        guard let source = file(key, isPublic: isPublic), let path = source.path else { return nil }
        do throws(CredentialError) {
            guard let objection = check(try source.read()) else { return source }
            error(key, "\(path) \(objection)")
        } catch {
            self.error(key, error.reason)
        }
        return nil
    }
}
