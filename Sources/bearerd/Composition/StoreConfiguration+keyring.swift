// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdKeyring
import BearerdTokenStore

extension Configuration {
    /// The store's key in the Secret Service, for a command: one is made where there is none.
    func storeKey() throws(CommandFailure) -> Secret? {
        do throws(KeyringFailure) {
            return try store.keyringKey()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension StoreConfiguration {
    /// The key in the Secret Service that its files are encrypted with; blocks, for less than two seconds.
    ///
    /// One is made where there is none; unless sessions are encrypted already, for which a new one would be useless.
    ///
    /// - Parameter isExamined: whether none is made at all.
    /// - Returns: nil for a store whose key is nowhere else, or where `isExamined` and there is none yet.
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
