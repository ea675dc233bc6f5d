// SPDX-License-Identifier: Apache-2.0

/// Where it is written which credential served whom (`audit`).
package struct AuditConfiguration: Sendable {
    /// The path of the file that lines are appended to.
    package let file: String
}

extension AuditConfiguration {
    enum Key: String, ConfigurationKey {
        case file
    }

    init?(reading section: Section<Key>) {
        section.require(.file)
        guard let path = section.value(.file, .path(in: section.reading)) else { return nil }
        file = path.value
    }
}
