// SPDX-License-Identifier: Apache-2.0

/// A command of the command line.
protocol Command {
    /// The word that asks for it.
    static var name: String { get }
    /// What it does, in one line.
    static var summary: String { get }
    /// What the one word after the options is called; nil for a command that takes none.
    static var operand: String? { get }
    /// Whether the command does nothing without that word.
    static var needsOperand: Bool { get }
    /// What else is to know of it, a paragraph each, for the help and the manual.
    static var details: [String] { get }
    /// Whether it is about bearerd as a whole, so that its help shows the overview too.
    static var isAboutAll: Bool { get }
    /// The command's own options, those of every command left out.
    static var options: [CommandOption] { get }
    /// The options that it has in common with others.
    static var commonOptions: [CommandOption] { get }

    /// Takes what it needs from its command line.
    init(_ arguments: ParsedArguments) throws(CommandFailure)

    /// Does what it is for; blocks until it is done.
    func run() throws(CommandFailure) -> ExitStatus
}

extension Command {
    static var operand: String? { nil }
    static var needsOperand: Bool { false }
    static var details: [String] { [] }
    static var isAboutAll: Bool { false }
    static var options: [CommandOption] { [] }
    static var commonOptions: [CommandOption] { [.config, .help] }

    /// The command's own options and the common ones.
    static var allOptions: [CommandOption] { options + commonOptions }

    /// How it is called: `token [IDENTITY]`, `discover ISSUER`.
    static var usage: String { name + (operand.map { needsOperand ? " \($0)" : " [\($0)]" } ?? "") }
}
