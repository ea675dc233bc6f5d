// SPDX-License-Identifier: Apache-2.0

/// A command that is not finished.
///
/// A logout counts in memory at once; the others change nothing before the store's lease is had, or cannot be.
struct QueuedCommand: Sendable {
    let id: CommandID
    let command: EngineCommand
    /// The session that a logout has ended.
    var ended: StoredSession?
    /// True once the session in memory has changed, so that only writing it is left.
    var isApplied = false
    /// The authorization server's part, once it has done that; nil before.
    var result: CommandResult?

    init(id: CommandID, command: EngineCommand) {
        self.id = id
        self.command = command
    }
}
