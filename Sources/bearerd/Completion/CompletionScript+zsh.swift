// SPDX-License-Identifier: Apache-2.0

extension CompletionScript {
    /// The script for zsh's own completion system.
    var zsh: String {
        let names = commands.map { "'\($0.name):\(quoted($0.summary))'" }.joined(separator: " ")
        let cases = commands.map { command in
            "    \(command.name)) _arguments \((command.allOptions.map(zsh(of:)) + zshOperand(of: command)).joined(separator: " ")) ;;"
        }
        return #"""
            #compdef bearerd
            # Completion of bearerd for zsh.
            _bearerd_identities() {
                local -a names file
                local index=${words[(I)(-c|--config)]}
                ((index > 0)) && file=(-c ${words[index + 1]})
                names=(${(f)"$(bearerd completion identities $file 2>/dev/null)"})
                compadd -a names
            }
            _bearerd() {
                local curcontext=$curcontext state line
                local -a commands
                commands=(\#(names))
                _arguments -C '(-h --help)'{-h,--help}'[this help]' '(-V --version)'{-V,--version}'[the version]' \
                    '1:command:->command' '*::argument:->argument'
                case $state in
                command) _describe -t commands command commands ;;
                argument)
                    case $words[1] in
            \#(cases.joined(separator: "\n"))
                    esac ;;
                esac
            }
            if [[ $funcstack[1] == _bearerd ]]; then _bearerd "$@"; else compdef _bearerd bearerd; fi

            """#
    }

    private func zsh(of option: CommandOption) -> String {
        let value = value(of: option, file: ":file:_files", text: ":value: ") { ":value:(\($0))" }
        let tail = "[\(quoted(option.summary))]\(value)'"
        let long = "--\(option.name)" + (option.form == nil ? "" : "=")
        guard let letter = option.letter else { return "'\(long)\(tail)" }
        return "'(-\(letter) --\(option.name))'{-\(letter),\(long)}'\(tail)"
    }

    private func zshOperand(of command: any Command.Type) -> [String] {
        switch operand(of: command) {
        case .none: []
        case .identity: ["'::identity:_bearerd_identities'"]
        case .oneOf(let words): ["'::word:(\(words.joined(separator: " ")))'"]
        case .anything: ["'::\(command.operand?.lowercased() ?? ""): '"]
        }
    }

    /// A text inside quotes and brackets; a colon would end it.
    private func quoted(_ text: String) -> String {
        text.replacing("'", with: "'\\''").replacing(":", with: "\\:").replacing("[", with: "\\[")
            .replacing("]", with: "\\]")
    }
}
