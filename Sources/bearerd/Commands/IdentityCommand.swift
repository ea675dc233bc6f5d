// SPDX-License-Identifier: Apache-2.0

/// A command for one identity.
protocol IdentityCommand: Command {
    /// The identity on the command line, which may be left out.
    var operand: IdentityOperand { get }
    /// False for what can be done without an authorization server, with a token of a `source`.
    static var needsProvider: Bool { get }

    /// Runs the command, and blocks until it is done.
    func run(on chosen: ChosenIdentity) throws(CommandFailure)
}

extension IdentityCommand {
    static var operand: String? { "IDENTITY" }

    static var needsProvider: Bool { true }

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        if Self.needsProvider { try chosen.requireProvider() }
        try run(on: chosen)
        return .success
    }
}

/// A command for one identity that takes no options of its own.
protocol PlainIdentityCommand: IdentityCommand {
    init(operand: IdentityOperand)
}

extension PlainIdentityCommand {
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        self.init(operand: try IdentityOperand(arguments))
    }
}
