// SPDX-License-Identifier: Apache-2.0

/// A file at one moment, to tell whether it has changed since.
package enum FileState: Equatable, Sendable {
    case absent
    case present(FileFingerprint)

    /// - Parameter fingerprint: nil if there was no file.
    package init(_ fingerprint: FileFingerprint?) {
        self = fingerprint.map { .present($0) } ?? .absent
    }
}
