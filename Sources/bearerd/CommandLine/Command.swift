// SPDX-License-Identifier: Apache-2.0

/// A command of the command line.
protocol Command {
    /// The word that calls the command.
    static var name: String { get }
    /// The command's purpose, in one line.
    static var summary: String { get }
    /// The placeholder of the word after the options; nil for a command without one.
    static var operand: String? { get }
    /// True if the command needs its operand.
    static var needsOperand: Bool { get }
    /// Further paragraphs for the help and the manual.
    static var details: [String] { get }
    /// True for commands about bearerd as a whole, whose help includes the overview.
    static var isAboutAll: Bool { get }
    /// The command's own options, without those of every command.
    static var options: [CommandOption] { get }
    /// The options that it shares with others.
    static var commonOptions: [CommandOption] { get }

    /// Reads the command's settings from the command line.
    init(_ arguments: ParsedArguments) throws(CommandFailure)

    /// Runs the command, and blocks until it is done.
    func run() throws(CommandFailure) -> ExitStatus
}

extension Command {
    static var operand: String? { nil }
    static var needsOperand: Bool { false }
    static var details: [String] { [] }
    static var isAboutAll: Bool { false }
    static var options: [CommandOption] { [] }
    static var commonOptions: [CommandOption] { [.config, .help] }

    static var allOptions: [CommandOption] { options + commonOptions }

    /// How it is called: `token [IDENTITY]`, `discover ISSUER`.
    static var usage: String { name + (operand.map { needsOperand ? " \($0)" : " [\($0)]" } ?? "") }
}
