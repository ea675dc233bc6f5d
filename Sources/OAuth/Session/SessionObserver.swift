// SPDX-License-Identifier: Apache-2.0

/// Hears what happens to sessions; called on the session's executor, must not block.
public protocol SessionObserver: Sendable {
    /// Something happened to the session of `identity`.
    func session(_ identity: String, reports event: SessionEvent)
}
