// SPDX-License-Identifier: Apache-2.0

/// What makes a shell complete the words of the command line, made from the commands and their options.
struct CompletionScript {
    /// A shell that there is a script for.
    enum Shell: String, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// What stands in place of a shell where a script asks for the names of identities.
    static let identities = "identities"

    let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) {
        self.commands = commands
    }

    /// The script for a shell.
    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// What a shell's script says of an option's value; nothing for an option without one.
    ///
    /// - Parameter list: gets the words that may stand there.
    func value(of option: CommandOption, file: String, text: String, list: (String) -> String) -> String {
        switch option.form {
        case nil: ""
        case .file?: file
        case .oneOf(let words)?: list(words.joined(separator: " "))
        case .text?: text
        }
    }

    /// What may stand as a command's operand.
    enum Operand {
        case none
        case identity
        case oneOf([String])
        case anything
    }

    /// What may stand as the operand of a command.
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
