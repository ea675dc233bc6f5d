// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// The source of a client's credentials; asked at each use, so that a changed file counts at once.
public protocol CredentialSource: Sendable {
    /// The credential at this moment; nil if none is configured.
    func read(_ credential: Credential) async throws(CredentialError) -> Secret?

    /// The configuration's name of the credential, for errors; nil if it is not configured.
    func configuredKey(of credential: Credential) -> String?
}

extension CredentialSource {
    /// The default: nil.
    public func configuredKey(of credential: Credential) -> String? { nil }

    /// Returns true if the credential is configured.
    func has(_ credential: Credential) -> Bool { configuredKey(of: credential) != nil }
}

/// Why a credential could not be read: there is no file, no permission, an insecure mode, or nothing in it.
public struct CredentialError: ExplainedError, Equatable, Sendable {
    /// The file and the reason, never its contents.
    public let reason: String
    /// True if the system denies access, which may change with a restart.
    package var isDenied = false

    /// An error with a reason that holds no secret.
    public init(reason: String) {
        self.reason = reason
    }

    /// The ``reason``.
    public var sentence: String { "the credential cannot be read: \(reason.shownReason)" }
}
