// SPDX-License-Identifier: Apache-2.0

extension CompletionScript {
    /// The script for fish 3 and later.
    var fish: String {
        var lines = ["# Completion of bearerd for fish.", "complete -c bearerd -f"]
        for command in commands {
            lines.append(
                "complete -c bearerd -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))"
            )
        }
        lines += [
            "complete -c bearerd -n __fish_use_subcommand -s h -l help -d 'this help'",
            "complete -c bearerd -n __fish_use_subcommand -s V -l version -d 'the version'",
        ]
        for command in commands {
            let condition = "complete -c bearerd -n '__fish_seen_subcommand_from \(command.name)'"
            lines += command.allOptions.map { "\(condition) \(fish(of: $0))" }
            switch operand(of: command) {
            case .none, .anything: break
            case .identity: lines.append("\(condition) -a '(bearerd completion identities 2>/dev/null)'")
            case .oneOf(let words): lines.append("\(condition) -a '\(words.joined(separator: " "))'")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fish(of option: CommandOption) -> String {
        let value = value(of: option, file: " -r -F", text: " -x") { " -x -a '\($0)'" }
        return (option.letter.map { "-s \($0) " } ?? "")
            + "-l \(option.name)\(value) -d \(quoted(option.summary))"
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
