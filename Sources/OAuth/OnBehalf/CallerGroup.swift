// SPDX-License-Identifier: Apache-2.0

/// The callers that share failures and a queue.
enum CallerGroup: Hashable, Sendable {
    /// Callers with an earlier success, which other callers' failures do not hold up.
    case served
    /// All other callers of one peer (a user of this machine, or a host), which can make up any number of tokens.
    case peer([UInt8])
}
