// SPDX-License-Identifier: Apache-2.0

import BearerdKeyring

/// The reason why a store cannot get its key from the Secret Service.
struct KeyringFailure: Error, Equatable {
    enum Reason: Equatable {
        case refused(KeyringError)
        /// The key is missing, but the directory has encrypted sessions.
        case gone(directory: String)
    }

    /// The value of `store.encryption_key_keyring`.
    let name: String
    let reason: Reason

    /// The problem, its reason and its remedy, in one line.
    var message: String {
        let subject = "store.encryption_key_keyring: '\(name)'"
        switch reason {
        case .refused(let error) where error.isUnavailable:
            return "\(subject) cannot be had: \(error); \(Self.alternatives)"
        case .refused(let error):
            return "\(subject): \(error)"
        case .gone(let directory):
            return
                "\(subject): there is no such key in the keyring, but sessions in \(directory) are encrypted: put the "
                + "key back, or move the directory away and log in again"
        }
    }

    /// The settings that need no Secret Service.
    static let alternatives =
        "store.encryption_key_file, or store.encryption_key_credential with what systemd-creds has encrypted, needs no "
        + "keyring"

    /// The exit status; a fault that only a person can fix gives no reason to restart.
    var status: ExitStatus {
        switch reason {
        case .refused(let error): error.isUnavailable ? .unavailable : .configuration
        case .gone: .configuration
        }
    }
}
