// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem
internal import OAuth

/// Keys whose value is a file or may be in one.
extension Section {
    /// A secret, from at most one of `X`, `X_file` and `X_credential`.
    func secret(_ key: Key) -> SecretSource? { secret(key, in: checked) }

    /// A secret whose file somebody else renews: one with nothing of use in it is only a warning.
    func renewedSecret(_ key: Key) -> SecretSource? { secret(key, in: checkedForNow) }

    private func secret(_ key: Key, in checked: (Found<String>) -> SecretSource?) -> SecretSource? {
        let file = key.rawValue + SecretForm.file.rawValue
        let credential = key.rawValue + SecretForm.credential.rawValue
        let given = key.spellings.filter(has(spelling:))
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

    /// A secret that must fit a rule; no message quotes it.
    func secret(
        _ key: Key, where rule: String, _ fits: (Secret) -> Bool
    ) -> SecretSource? {
        guard let source = secret(key) else { return nil }
        guard let secret = try? source.read(), !fits(secret) else { return source }
        reading.error(rule, at: place(ofSpelling: spelling(ofSecret: key)))
        return nil
    }

    /// The spelling of a secret's key in the file, with the suffix of its form.
    func spelling(ofSecret key: Key) -> String { key.spellings.first(where: has(spelling:)) ?? key.rawValue }

    /// A secret for a header field, which must not change on its way through one (RFC 9110 §5.5).
    func fieldSecret(_ key: Key) -> SecretSource? {
        secret(key, where: Secret.fieldRule, \.canStandInField)
    }

    /// The path of a file with certificates that only its owner may change.
    func certificateFile(_ key: Key) -> String? {
        guard let path = value(key, .path(in: reading)) else { return nil }
        return inspect(path, isPublic: true) { path throws(CredentialError) in
            try CertificateFile.status(of: path)
        }
    }

    /// The path of a file that only its owner may change, and that others should not read unless it is public.
    func secretFile(_ key: Key, isPublic: Bool = false, limit: Int = SecretFile.longest) -> String? {
        guard let path = value(key, .path(in: reading)) else { return nil }
        return inspect(path, isPublic: isPublic) { path throws(CredentialError) in
            try SecretFile.contents(of: path, limit: limit).status
        }
    }

    /// The path of a name under `$CREDENTIALS_DIRECTORY`.
    private func credentialPath(_ name: Found<String>) -> Found<String>? {
        guard let directory = reading.environment(Variable.credentialsDirectory), !directory.isEmpty else {
            reading.error(
                "\(Variable.credentialsDirectory) is not set: systemd gave no credentials; outside of its unit name their "
                    + "directory: sudo env \(Variable.credentialsDirectory)=DIR bearerd …",
                at: name.place, isDenial: true)
            return nil
        }
        return Found(value: "\(directory)/\(name.value)", place: name.place)
    }

    private func checked(_ path: Found<String>) -> SecretSource? {
        inspect(path) { path throws(CredentialError) in try SecretFile.read(path).status }
            .map { .file(path: $0) }
    }

    private func checkedForNow(_ path: Found<String>) -> SecretSource? {
        var objection: String?
        let file = inspect(path) { path throws(CredentialError) in
            let status = try SecretFile.status(of: path)
            do throws(CredentialError) {
                let now = WallTime(sinceEpoch: WallClock.sinceEpoch)
                objection = try SecretFile.read(path).secret.fault(at: path, now)?.detail
            } catch {
                guard !error.isDenied else { throw error }
                objection = error.reason
            }
            return status
        }
        if let objection {
            reading.warn("\(objection): there is no token before that is mended", at: path.place)
        }
        return file.map { .file(path: $0) }
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

/// Environment variables that are read by bearerd itself.
enum Variable {
    /// The directory of systemd's `LoadCredential=`.
    static let credentialsDirectory = "CREDENTIALS_DIRECTORY"
    /// The directories of systemd's `StateDirectory=`.
    static let stateDirectory = "STATE_DIRECTORY"
    /// The directory for programs' state (XDG base directories).
    static let stateHome = "XDG_STATE_HOME"
    static let home = "HOME"
    /// Where Google's metadata server is, in place of `metadata.google.internal`.
    static let metadataHost = "GCE_METADATA_HOST"
    /// Where App Service and Container Apps give tokens of a managed identity.
    static let identityEndpoint = "IDENTITY_ENDPOINT"
    /// The secret that requests to ``identityEndpoint`` must have.
    static let identityHeader = "IDENTITY_HEADER"
}

extension ValueKind<String> {
    /// A path; a relative one is in the configuration's directory.
    static func path(in reading: Reading) -> ValueKind {
        text.map { path throws(ValueError) in
            if let objection = path.objectionToTilde { throw ValueError(objection) }
            return reading.resolved(path)
        }
    }

    /// The name of a file in systemd's directory of credentials.
    fileprivate static var credentialName: ValueKind {
        reading("the name of a credential") { ["", ".", ".."].contains($0) || $0.contains("/") ? nil : $0 }
    }
}

extension String {
    /// The error of a path that only a shell would understand; nil for every other one.
    var objectionToTilde: String? {
        guard self == "~" || hasPrefix("~/") else { return nil }
        return "begins with '~', which only a shell understands: write the path out, or begin it with ${HOME}"
    }
}

extension ValueKind<Secret> {
    /// A secret; no message quotes it.
    static var secret: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard !scalar.text.isEmpty else { throw ValueError("is empty") }
            return Secret(scalar.text)
        }
    }
}
