// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

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
        let directory = String(path.value[..<(path.value.lastIndex(of: "/") ?? path.value.startIndex)])
        guard !directory.isEmpty, Self.isMissing(directory) else { return }
        section.warn(.file, "there is no directory \(directory): without it nothing starts (73)")
    }

    /// Returns false where that cannot be told.
    private static func isMissing(_ directory: String) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(of: directory) == nil
        } catch {
            return false
        }
    }
}
