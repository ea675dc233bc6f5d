// SPDX-License-Identifier: Apache-2.0

internal import BearerdObservability
package import BearerdYAML

/// One problem of a configuration file: where it is and what to do about it; it never quotes a secret.
package struct ConfigurationProblem: Hashable, Sendable {
    /// The severity, spelled as in the message.
    package enum Severity: String, Sendable {
        case error
        case warning
    }

    package let severity: Severity
    package let mark: Mark
    package var line: Int { mark.line }
    package var column: Int { mark.column }
    /// The key's path, as in `routes[0].upstream`; empty for the file as a whole.
    package let path: String
    /// The problem and its remedy.
    package let reason: String
    /// True if it is about the mode or owner of a file.
    package var isAboutModes = false
    /// True if the system does not let us read a file, as it may let another user or the service.
    package var isDenial = false

    /// The whole message, always one line: `FILE:LINE:COLUMN: error: KEY: REASON`.
    package func line(in file: String) -> String {
        let subject = path.isEmpty ? "" : "\(path): "
        return "\(file):\(line):\(column): \(severity.rawValue): \(subject)\(reason)".printable
    }
}
