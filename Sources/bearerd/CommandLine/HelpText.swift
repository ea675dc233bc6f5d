// SPDX-License-Identifier: Apache-2.0

/// What `--help` prints.
enum HelpText {
    /// The commands and how they are called.
    static func overview(of commands: [any Command.Type]) -> String {
        let rows = commands.map { (usage: name($0), summary: $0.summary) }
        return """
            bearerd: a sidecar that puts fresh OAuth access tokens into plain HTTP requests

            usage: bearerd COMMAND [OPTIONS]

            \(table(rows))
            options of every command:
            \(table([CommandOption.config, .help].map { ($0.usage, $0.summary) }))
            'bearerd help COMMAND' tells a command's own; 'bearerd version' (-V) tells the version.

            """
    }

    /// One command, its operand and its options.
    static func help(for command: any Command.Type) -> String {
        """
        usage: bearerd \(name(command)) [OPTIONS]

        \(command.summary)

        \(table(command.allOptions.map { ($0.usage, $0.summary) }))
        """
    }

    private static func name(_ command: any Command.Type) -> String {
        command.name + (command.operand.map { " [\($0)]" } ?? "")
    }

    private static func table(_ rows: [(usage: String, summary: String)]) -> String {
        let width = rows.map(\.usage.count).max() ?? 0
        return rows.map { row in
            "  \(row.usage)\(String(repeating: " ", count: width - row.usage.count + 2))\(row.summary)\n"
        }.joined()
    }
}
