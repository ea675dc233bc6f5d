// SPDX-License-Identifier: Apache-2.0

/// The version of this program.
enum Version {
    static let text = "0.1.0"
    /// The date of the manual: that of the release or, before it, of the last change.
    static let date = "2026-11-22"
}
