// SPDX-License-Identifier: Apache-2.0

/// A command for one identity.
protocol IdentityCommand: Command {
    /// The identity that the command line names, or leaves out.
    var operand: IdentityOperand { get }

    /// Does what the command is for; blocks until it is done.
    func run(on chosen: ChosenIdentity) throws(CommandFailure)
}

extension IdentityCommand {
    static var operand: String? { "IDENTITY" }

    func run() throws(CommandFailure) -> ExitStatus {
        try run(on: operand.choose())
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
