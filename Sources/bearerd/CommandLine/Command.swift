// SPDX-License-Identifier: Apache-2.0

/// A command of the command line.
protocol Command {
    /// The word that asks for it.
    static var name: String { get }
    /// What it does, in one line.
    static var summary: String { get }
    /// What the one word after the options is called; nil for a command that takes none.
    static var operand: String? { get }
    /// Its options, those of every command left out.
    static var options: [CommandOption] { get }

    /// Takes what it needs from its command line.
    init(_ arguments: ParsedArguments) throws(CommandFailure)

    /// Does it; blocks until it is done.
    func run() throws(CommandFailure) -> ExitStatus
}

extension Command {
    static var operand: String? { nil }
    static var options: [CommandOption] { [] }

    /// The command's own options and those of every command.
    static var allOptions: [CommandOption] { options + [.config, .help] }
}
