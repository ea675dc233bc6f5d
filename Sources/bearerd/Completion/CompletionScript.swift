// SPDX-License-Identifier: Apache-2.0

/// Makes a shell's completion script from the commands and their options.
struct CompletionScript {
    /// A shell for which there is a script.
    enum Shell: String, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// The operand with which the scripts ask for the names of identities.
    static let identities = "identities"

    let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) {
        self.commands = commands
    }

    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The part of a script for an option's value; empty for an option without one.
    ///
    /// - Parameter list: gets the possible words.
    func value(of option: CommandOption, file: String, text: String, list: (String) -> String) -> String {
        switch option.form {
        case nil: ""
        case .file?: file
        case .oneOf(let words)?: list(words.joined(separator: " "))
        case .text?: text
        }
    }

    /// The possible operands of a command.
    enum Operand {
        case none
        case identity
        case oneOf([String])
        case anything
    }

    func operand(of command: any Command.Type) -> Operand {
        switch command.operand {
        case nil: return .none
        case "IDENTITY"?: return .identity
        case "COMMAND"?: return .oneOf(commands.map { $0.name })
        case let word?:
            guard case .oneOf(let words) = CommandOption.form(of: word) else { return .anything }
            return .oneOf(words)
        }
    }
}
