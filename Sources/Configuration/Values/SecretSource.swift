// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import OAuth
internal import System

/// Where a secret is: in the configuration, or in a file that may change while the daemon runs.
package enum SecretSource: Sendable {
    /// In the configuration itself, perhaps by way of the environment.
    case literal(Secret)
    /// In a file, also one that systemd's `LoadCredential=` made.
    case file(path: String)

    /// The file that it is in; nil where it stands in the configuration itself.
    package var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The secret as it is at this moment; reads the file each time, and blocks while it does.
    ///
    /// - Throws: when the file cannot be read, is empty, or may be written by the group or by everybody.
    package func read() throws(CredentialError) -> Secret {
        switch self {
        case .literal(let secret): secret
        case .file(let path): try SecretFile.read(path).secret
        }
    }
}

extension SecretSource: Equatable {
    package static func == (left: SecretSource, right: SecretSource) -> Bool {
        switch (left, right) {
        case (.literal(let one), .literal(let other)): one.matches(other.plaintextBytes)
        case (.file(let one), .file(let other)): one == other
        case (.literal, .file), (.file, .literal): false
        }
    }
}
