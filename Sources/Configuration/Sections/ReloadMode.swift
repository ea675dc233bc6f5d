// SPDX-License-Identifier: Apache-2.0

/// When the configuration is read again (`reload`).
package enum ReloadMode: String, CaseIterable, Sendable {
    /// Only on SIGHUP and `POST /api/reload`.
    case manual
    /// Also when the file changes.
    case watch
}
