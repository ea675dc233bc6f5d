// SPDX-License-Identifier: Apache-2.0

import BearerdKeyring

/// Why a store cannot have its key from the Secret Service.
struct KeyringFailure: Error, Equatable {
    enum Reason: Equatable {
        case refused(KeyringError)
        /// There is no such key, but a directory whose sessions are encrypted.
        case gone(directory: String)
    }

    /// As in `store.encryption_key_keyring`.
    let name: String
    let reason: Reason

    /// What, why, and what to do, in one line.
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

    /// What needs no Secret Service.
    static let alternatives =
        "store.encryption_key_file, or store.encryption_key_credential with what systemd-creds has encrypted, needs no "
        + "keyring"

    /// What stays wrong until a person mends it is no reason to begin anew.
    var status: ExitStatus {
        switch reason {
        case .refused(let error): error.isUnavailable ? .unavailable : .configuration
        case .gone: .configuration
        }
    }
}
