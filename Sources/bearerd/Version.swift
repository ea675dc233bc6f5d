// SPDX-License-Identifier: Apache-2.0

/// The version of this program.
enum Version {
    static let text = "0.1.0"
    /// Of the manual: when it was released or, before that, last changed.
    static let date = "2026-11-22"
}
