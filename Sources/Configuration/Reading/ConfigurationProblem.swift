// SPDX-License-Identifier: Apache-2.0

internal import Observability
package import YAML

/// One fault of a configuration file, where it stands and what to do about it.
///
/// It never quotes a secret.
package struct ConfigurationProblem: Hashable, Sendable {
    /// How grave a problem is; spelled as in the message.
    package enum Severity: String, Sendable {
        /// The configuration cannot be used.
        case error
        /// The configuration can be used, but somebody should look.
        case warning
    }

    /// How grave it is.
    package let severity: Severity
    /// Where the key or value stands.
    package let mark: Mark
    /// The line of ``mark``, counted from 1.
    package var line: Int { mark.line }
    /// The column of ``mark``, counted from 1.
    package var column: Int { mark.column }
    /// The key's way from the top of the file, as in `routes[0].upstream`; empty for the file as a whole.
    package let path: String
    /// What is wrong, and how to mend it.
    package let reason: String
    /// Whether it is about who may read or write a file.
    package var isAboutModes = false
    /// Whether it is that the system does not let us read a file.
    package var isDenial = false

    /// The whole message, one line whatever the file holds: `FILE:LINE:COLUMN: error: KEY: REASON`.
    package func line(in file: String) -> String {
        let subject = path.isEmpty ? "" : "\(path): "
        return "\(file):\(line):\(column): \(severity.rawValue): \(subject)\(reason)".printable
    }
}
