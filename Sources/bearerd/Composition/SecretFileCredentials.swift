// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import OAuth
import BearerdSystem

/// A client's credentials, read anew at each use on a thread that may block.
struct SecretFileCredentials: CredentialSource {
    let sources: [Credential: SecretSource]
    /// The configuration's keys for them.
    let keys: [Credential: String]
    let thread: ThreadExecutor

    func configuredKey(of credential: Credential) -> String? { keys[credential] }

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        guard let source = sources[credential] else { return nil }
        let reading = Task(executorPreference: thread) { () -> Result<Secret, CredentialError> in
            do throws(CredentialError) {
                return .success(try source.read())
            } catch {
                return .failure(error)
            }
        }
        return try await reading.value.get()
    }
}
