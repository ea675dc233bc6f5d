// SPDX-License-Identifier: Apache-2.0

/// A right or command that is missing on a server that accepts our login.
package struct MissingRedisRight: Equatable, Sendable {
    package enum Kind: Sendable {
        /// The user lacks the right to a key, a channel or a command.
        case right
        /// The command does not exist; somebody may have renamed it.
        case command
    }

    let kind: Kind
    /// The command and its target; nil if unknown.
    var command: String?

    init(of kind: Kind) { self.kind = kind }

    /// A clause for people.
    var reason: String {
        let what =
            switch kind {
            case .right: "does not give its user a right that is needed (NOPERM)"
            case .command: "does not know a command that is needed, or has renamed it"
            }
        return what + (command.map { ": \($0)" } ?? ", which 'bearerd doctor' names")
    }
}
