// SPDX-License-Identifier: Apache-2.0

/// The file that records which credential served whom (`audit`).
package struct AuditConfiguration: Sendable {
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
