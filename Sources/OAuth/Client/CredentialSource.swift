// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// Where a client's credentials come from; asked at each use, so that a changed file counts at once.
public protocol CredentialSource: Sendable {
    /// The credential as it is at this moment, nil where none is configured.
    func read(_ credential: Credential) async throws(CredentialError) -> Secret?

    /// What the credential is called where it is configured, for errors; nil where none is configured.
    func configuredKey(of credential: Credential) -> String?
}

extension CredentialSource {
    /// A source that does not say has none of its own names for them.
    public func configuredKey(of credential: Credential) -> String? { nil }

    /// The name for an error.
    func key(of credential: Credential) -> String { configuredKey(of: credential) ?? credential.rawValue }

    /// Whether the source says that it has the credential.
    func has(_ credential: Credential) -> Bool { configuredKey(of: credential) != nil }
}
