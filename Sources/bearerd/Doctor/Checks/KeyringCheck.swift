// SPDX-License-Identifier: Apache-2.0

import Configuration

/// `keyring`: whether the encryption key can be had from the Secret Service.
enum KeyringCheck: WholeCheck {
    static let id = CheckID.keyring

    static func look(at patient: Patient) -> Finding {
        .skip("this version keeps no key in a keyring; store.encryption_key_file names a file")
    }
}
