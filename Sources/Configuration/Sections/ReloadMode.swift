// SPDX-License-Identifier: Apache-2.0

/// When the configuration is read again (`reload`).
package enum ReloadMode: String, CaseIterable, Sendable {
    /// On SIGHUP and `POST /api/reload`.
    case manual
    /// When the file changes, too.
    case watch
}
