// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdKeyring
import BearerdTokenStore

extension Configuration {
    /// The store's key in the Secret Service, which is created if it is missing; for commands.
    func storeKey() throws(CommandFailure) -> Secret? {
        do throws(KeyringFailure) {
            return try store.keyringKey()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension StoreConfiguration {
    /// The key in the Secret Service for a store's files; blocks for less than two seconds.
    ///
    /// A missing key is created, unless encrypted sessions exist, for which a new one would be useless.
    ///
    /// - Parameter isExamined: true to create no key.
    /// - Returns: nil for other stores, or if `isExamined` and there is no key yet.
    /// - Throws: ``KeyringFailure``.
    func keyringKey(isExamined: Bool = false) throws(KeyringFailure) -> Secret? {
        guard case .file(let directory, .keyring(let name)?) = self else { return nil }
        let holdsEncrypted = StoreDirectory.holdsEncrypted(directory)
        do throws(KeyringError) {
            let key = try KeyringKey.ask(for: name, makingIt: !isExamined && !holdsEncrypted)
            if let key { return key }
        } catch {
            throw KeyringFailure(name: name, reason: .refused(error))
        }
        guard holdsEncrypted else { return nil }
        throw KeyringFailure(name: name, reason: .gone(directory: directory))
    }
}
