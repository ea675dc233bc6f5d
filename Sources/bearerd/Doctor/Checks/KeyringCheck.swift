// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography

/// `keyring`: the Secret Service has the encryption key.
enum KeyringCheck: WholeCheck {
    static let id = CheckID.keyring

    static func look(at subject: DoctorSubject) -> Finding {
        guard case .file(_, .keyring(let name)?) = subject.configuration.store else {
            return .skip("store.encryption_key_keyring is not set")
        }
        do throws(KeyringFailure) {
            guard try subject.store.keyringKey.get() != nil else {
                return .ok("there is no key '\(name)' yet; the daemon or a login makes it")
            }
            return .ok("the key '\(name)' can be read")
        } catch {
            return .fail(error.message, fix: "store.encryption_key_keyring")
        }
    }
}
