// SPDX-License-Identifier: Apache-2.0

/// The callers that wait for each other's failures, and for each other's turns.
enum CallerGroup: Hashable, Sendable {
    /// Those whose exchange has succeeded before: no failure of anybody else's holds them up.
    case served
    /// All others of one peer (a user of this machine, a host), who can make up as many tokens as it likes.
    case peer([UInt8])
}
