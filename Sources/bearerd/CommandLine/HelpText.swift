// SPDX-License-Identifier: Apache-2.0

/// The texts of `--help`.
enum HelpText {
    /// The purpose of bearerd, in one line.
    static let purpose = "a sidecar that puts fresh OAuth access tokens into plain HTTP requests"

    /// The list of all commands.
    static func overview(of catalog: CommandCatalog) -> String {
        let rows = catalog.commands.map { (usage: $0.usage, summary: $0.summary) }
        return """
            bearerd: \(purpose)

            usage: bearerd COMMAND [OPTIONS]

            \(table(rows))
            options of every command (-c of those that read a configuration):
            \(table([CommandOption.config, .help].map { ($0.usage, $0.summary) }))
            'bearerd help COMMAND' tells a command's own; 'bearerd version' (-V) tells the version.

            """
    }

    /// The help of one command; for commands about bearerd as a whole followed by the overview.
    static func help(for command: any Command.Type, of catalog: CommandCatalog) -> String {
        let own = """
            usage: bearerd \(command.usage) [OPTIONS]

            \(command.summary)

            \(command.details.map { wrapped($0) + "\n" }.joined())\(table(command.allOptions.map { ($0.usage, $0.summary) }))\(examples(of: command))
            """
        return command.isAboutAll ? "\(own)\n\(overview(of: catalog))" : own
    }

    private static func examples(of command: any Command.Type) -> String {
        let examples = CommandExample.of(command)
        guard !examples.isEmpty else { return "" }
        return "\nexamples:\n" + examples.map { "  \($0.line)\n      \($0.purpose)\n" }.joined()
    }

    /// Wraps a paragraph for a terminal of 80 columns.
    private static func wrapped(_ paragraph: String) -> String {
        var lines = [""]
        for word in paragraph.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + word.count < 78 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func table(_ rows: [(usage: String, summary: String)]) -> String {
        let width = rows.map(\.usage.count).max() ?? 0
        return rows.map { row in
            "  \(row.usage)\(String(repeating: " ", count: width - row.usage.count + 2))\(row.summary)\n"
        }.joined()
    }
}
