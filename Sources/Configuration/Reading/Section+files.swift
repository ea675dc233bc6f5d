// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import OAuth
internal import System

/// Keys whose value is a file, or may be in one.
extension Section {
    /// A secret, from at most one of `X`, `X_file` and `X_credential`.
    func secret(_ key: Key) -> SecretSource? {
        let file = key.rawValue + SecretForm.file.suffix
        let credential = key.rawValue + SecretForm.credential.suffix
        let given = [key.rawValue, file, credential].filter(has(spelling:))
        guard given.count <= 1 else {
            for spelling in given.dropFirst() {
                reading.error(
                    "only one of \(given.joined(separator: " and ")) may be given",
                    at: place(ofSpelling: spelling))
            }
            return nil
        }
        if let literal = value(key, .secret) {
            if !isFromEnvironment(key) { reading.holdsSecret(at: literal.place) }
            return .literal(literal.value)
        }
        if let path = value(spelled: file, .path(in: reading)) { return checked(path) }
        return value(spelled: credential, .credentialName).flatMap(credentialPath).flatMap(checked)
    }

    /// A secret that must fit a rule; its text takes part in no message.
    func secret(
        _ key: Key, where rule: String, _ fits: (Secret) -> Bool
    ) -> SecretSource? {
        guard let source = secret(key) else { return nil }
        guard let secret = try? source.read(), !fits(secret) else { return source }
        reading.error(rule, at: place(ofSpelling: spelling(ofSecret: key)))
        return nil
    }

    /// How the file spells a secret's key: with what form's suffix.
    func spelling(ofSecret key: Key) -> String {
        let spellings = [key.rawValue] + SecretForm.allCases.map { key.rawValue + $0.suffix }
        return spellings.first(where: has(spelling:)) ?? key.rawValue
    }

    /// A secret that stands in a header field, and so must come out of it as it went in (RFC 9110 5.5).
    func fieldSecret(_ key: Key) -> SecretSource? {
        secret(key, where: "cannot stand in a header: it holds a control character, or a space at an end") {
            let bytes = $0.plaintextBytes
            let space = UInt8(ascii: " ")
            return bytes.allSatisfy { $0 >= space && $0 != 0x7F } && bytes.first != space
                && bytes.last != space
        }
    }

    /// The path of a file with certificates, which nobody but its owner may change.
    func certificateFile(_ key: Key) -> String? {
        guard let path = value(key, .path(in: reading)) else { return nil }
        return inspect(path, isPublic: true) { path throws(CredentialError) in
            try CertificateFile.status(of: path)
        }
    }

    /// The path of a file with a private key.
    func keyFile(_ key: Key) -> String? {
        secretFile(key)
    }

    /// The path of a file that nobody but its owner may change, and nobody else should read unless it is public.
    func secretFile(_ key: Key, isPublic: Bool = false, limit: Int = SecretFile.longest) -> String? {
        guard let path = value(key, .path(in: reading)) else { return nil }
        return inspect(path, isPublic: isPublic) { path throws(CredentialError) in
            try SecretFile.contents(of: path, limit: limit).status
        }
    }

    /// A name under `$CREDENTIALS_DIRECTORY`, as a path.
    private func credentialPath(_ name: Found<String>) -> Found<String>? {
        guard let directory = reading.environment(Variable.credentialsDirectory) else {
            reading.error(
                "\(Variable.credentialsDirectory) is not set: systemd gave no credentials", at: name.place)
            return nil
        }
        return Found(value: "\(directory)/\(name.value)", place: name.place)
    }

    private func checked(_ path: Found<String>) -> SecretSource? {
        inspect(path) { path throws(CredentialError) in try SecretFile.read(path).status }
            .map { .file(path: $0) }
    }

    private func inspect(
        _ path: Found<String>, isPublic: Bool = false,
        _ look: (String) throws(CredentialError) -> FileStatus
    ) -> String? {
        do throws(CredentialError) {
            let status = try look(path.value)
            if status.isReadableByAll, !isPublic {
                reading.warn(
                    "\(path.value) may be read by everybody; chmod o-r it if it can be", at: path.place,
                    isAboutModes: true)
            }
            if let problem = status.ownerProblem {
                reading.warn("\(path.value) \(problem.reason)", at: path.place, isAboutModes: true)
            }
            return path.value
        } catch {
            reading.error(error.reason, at: path.place, isDenial: error.isDenied)
            return nil
        }
    }
}

/// Variables of the environment that bearerd reads by itself.
enum Variable {
    /// Where systemd puts what `LoadCredential=` names.
    static let credentialsDirectory = "CREDENTIALS_DIRECTORY"
    /// What systemd's `StateDirectory=` names.
    static let stateDirectory = "STATE_DIRECTORY"
    /// Where programs keep what outlives them (XDG base directories).
    static let stateHome = "XDG_STATE_HOME"
    /// The user's own directory.
    static let home = "HOME"
}

extension ValueKind<String> {
    /// A path; a relative one is in the directory of the configuration.
    static func path(in reading: Reading) -> ValueKind {
        text.map { reading.resolved($0) }
    }

    /// A file's name in systemd's directory of credentials.
    fileprivate static var credentialName: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard !["", ".", ".."].contains(scalar.text), !scalar.text.contains("/") else {
                throw ValueError("'\(scalar.written)' is not the name of a credential")
            }
            return scalar.text
        }
    }
}

extension ValueKind<Secret> {
    /// A secret; its text takes part in no message.
    static var secret: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard !scalar.text.isEmpty else { throw ValueError("is empty") }
            return Secret(scalar.text)
        }
    }
}
