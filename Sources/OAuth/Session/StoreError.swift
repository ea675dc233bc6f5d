// SPDX-License-Identifier: Apache-2.0

/// Why a store could not do what was asked.
public enum StoreError: Error, Equatable, Sendable {
    /// Another process held the lock for too long.
    case busy
    /// Reading or writing failed; the reason names the operation, the path and the system's words, no secret.
    case unavailable(String)
}
