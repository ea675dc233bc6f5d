// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import BearerdSystem
package import OAuth

/// The source of a secret: the configuration, or a file that may change while the daemon runs.
package enum SecretSource: Sendable {
    /// The configuration itself, perhaps through the environment.
    case literal(Secret)
    /// A file, perhaps one made by systemd's `LoadCredential=`.
    case file(path: String)

    /// The file's path; nil for a secret in the configuration itself.
    package var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The secret as it is now; reads the file each time, and blocks while it does.
    ///
    /// - Throws: if the file cannot be read, is empty, or may be written by the group or by everybody.
    package func read() throws(CredentialError) -> Secret {
        switch self {
        case .literal(let secret): secret
        case .file(let path): try SecretFile.read(path).secret
        }
    }

    /// The same for a secret that stands in a header field.
    package func readForField() throws(CredentialError) -> Secret {
        let secret = try read()
        guard secret.canStandInField else {
            throw CredentialError(reason: "\(path ?? "it") \(Secret.fieldRule)")
        }
        return secret
    }
}

extension SecretSource: Equatable {
    package static func == (left: SecretSource, right: SecretSource) -> Bool {
        switch (left, right) {
        case (.literal(let one), .literal(let other)): one.matches(other)
        case (.file(let one), .file(let other)): one == other
        case (.literal, .file), (.file, .literal): false
        }
    }
}
