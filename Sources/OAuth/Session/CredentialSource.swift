// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// Where a client's credentials come from; asked at each use, so that a changed file counts at once.
public protocol CredentialSource: Sendable {
    /// The credential as it is at this moment, nil where none is configured.
    func read(_ credential: Credential) async throws(CredentialError) -> Secret?
}
