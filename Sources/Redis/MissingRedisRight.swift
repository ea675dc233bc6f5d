// SPDX-License-Identifier: Apache-2.0

/// What a server does not let us do, though it lets us in.
package struct RedisLack: Equatable, Sendable {
    /// What is missing there.
    package enum Kind: Sendable {
        /// The user's right to a key, a channel or a command.
        case right
        /// The command itself, which somebody may have renamed.
        case command
    }

    let kind: Kind
    /// The command, and with what it was to be done; nil where that is not known.
    var command: String?

    init(of kind: Kind) {
        self.kind = kind
    }

    /// What a person reads of it.
    var reason: String {
        let what =
            switch kind {
            case .right: "does not give its user a right that is needed (NOPERM)"
            case .command: "does not know a command that is needed, or has renamed it"
            }
        return what + (command.map { ": \($0)" } ?? ", which 'bearerd doctor' names")
    }
}
