// SPDX-License-Identifier: Apache-2.0

/// The work that a job of a loop may do before all other ready jobs get their turn.
///
/// Without a limit a connection whose data is always there would never wait, and no other would be served.
/// Work is counted in bytes received and sent; work that moves no bytes counts as a number of them.
package enum TurnBudget {
    /// The bytes of a turn; 256 KiB from one side to the other count twice.
    static let allowance = 512 * 1024
    /// The work of an arrival without a task: more than small pieces is for a task, which receives more at once.
    static let relayAllowance = 32 * 1024
    /// The cost of a system call, beside the bytes that it moves.
    static let callCost = 4 * 1024
    /// The cost of an event of TLS's handshake; each changed key is four to seven of them.
    package static let eventCost = 4 * 1024
    /// The cost of a request, so that a turn has at most 16.
    package static let requestCost = allowance / 16
    /// The cost of removing a piece of a body from its framing, such as a chunk.
    package static let pieceCost = 512
}
