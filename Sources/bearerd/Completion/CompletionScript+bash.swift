// SPDX-License-Identifier: Apache-2.0

extension CompletionScript {
    /// The script for bash 4.4 and later; needs no completion library.
    var bash: String {
        let names = commands.map { $0.name }.joined(separator: " ")
        return #"""
            # Completion of bearerd for bash.
            _bearerd_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
            _bearerd_files() {
                compopt -o filenames 2>/dev/null || :
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            }
            _bearerd_identities() {
                local index file=()
                for ((index = 2; index < COMP_CWORD - 1; index++)); do
                    case ${COMP_WORDS[index]} in -c | --config)
                        file=(-c "${COMP_WORDS[index + 1]}")
                        [[ ${file[1]} == = ]] && file=(-c "${COMP_WORDS[index + 2]}") ;;
                    esac
                done
                _bearerd_words "$("${COMP_WORDS[0]}" completion identities "${file[@]}" 2>/dev/null)"
            }
            _bearerd() {
                local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
                COMPREPLY=()
                # bash takes --option=VALUE for three words.
                if [[ $current == = ]]; then
                    current=
                elif [[ $option == = ]]; then
                    option=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                if ((COMP_CWORD == 1)); then
                    _bearerd_words "\#(names) --help --version"
                    return
                fi
                case ${COMP_WORDS[1]} in
            \#(commands.map(bash(of:)).joined(separator: "\n"))
                esac
            }
            complete -F _bearerd bearerd

            """#
    }

    private func bash(of command: any Command.Type) -> String {
        let values = command.allOptions.compactMap { option -> String? in
            guard let form = option.form else { return nil }
            let pattern = (option.letter.map { "-\($0) | " } ?? "") + "--\(option.name)"
            return "        \(pattern)) \(bash(of: form)) return ;;\n"
        }
        let options = command.allOptions.map { "--\($0.name)" }.joined(separator: " ")
        let operand =
            switch operand(of: command) {
            case .none, .anything: ":"
            case .identity: "_bearerd_identities"
            case .oneOf(let words): "_bearerd_words \"\(words.joined(separator: " "))\""
            }
        let cases = values.isEmpty ? "" : "        case $option in\n\(values.joined())        esac\n"
        return """
                \(command.name))
            \(cases)        if [[ $current == -* ]]; then _bearerd_words "\(options)"; else \(operand); fi ;;
            """
    }

    private func bash(of form: CommandOption.Form) -> String {
        switch form {
        case .file: "_bearerd_files;"
        case .oneOf(let words): "_bearerd_words \"\(words.joined(separator: " "))\";"
        case .text: ""
        }
    }
}
