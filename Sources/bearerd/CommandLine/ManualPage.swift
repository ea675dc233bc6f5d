// SPDX-License-Identifier: Apache-2.0

/// A manual page in the language of `man(7)`, made from the help.
struct ManualPage {
    /// The page's name: `bearerd`, `bearerd-run`.
    let name: String
    /// The source of the page.
    private(set) var text: String

    /// Makes the page about bearerd itself.
    init(overviewOf commands: [any Command.Type]) {
        self.init(name: "bearerd", purpose: HelpText.purpose, synopsis: "bearerd COMMAND [OPTIONS]")
        section("DESCRIPTION")
        paragraph(
            "A program that knows nothing of OAuth sends plain HTTP to a loopback address or a Unix socket. bearerd "
                + "forwards it with a fresh access token, and gets, refreshes and keeps the tokens itself.")
        section("COMMANDS")
        for command in commands { entry(command.usage, "\(command.summary); see bearerd-\(command.name)(1)") }
        section("OPTIONS")
        for option in [CommandOption.config, .help] { entry(option.usage, option.summary) }
        section("ENVIRONMENT")
        entry("BEARERD_CONFIG", "the configuration, unless empty, where no option names one")
        section("FILES")
        entry(
            "config.yaml", "in the working directory, else in $XDG_CONFIG_HOME/bearerd (~/.config/bearerd),")
        paragraph("else in /etc/bearerd: the configuration, see bearerd.yaml(5).")
        finish(seeAlso: commands.map { "bearerd-\($0.name)" })
    }

    /// Makes the page about one command.
    init(of command: any Command.Type) {
        self.init(
            name: "bearerd-\(command.name)", purpose: command.summary,
            synopsis: "bearerd \(command.usage) [OPTIONS]")
        if !command.details.isEmpty { section("DESCRIPTION") }
        for detail in command.details { paragraph(detail) }
        section("OPTIONS")
        for option in command.allOptions { entry(option.usage, option.summary) }
        let examples = CommandExample.of(command)
        if !examples.isEmpty { section("EXAMPLES") }
        for example in examples { entry(example.line, example.purpose) }
        finish(seeAlso: ["bearerd"])
    }

    /// - Parameter number: the section of the manual: 1 for commands, 5 for files.
    init(name: String, purpose: String, synopsis: String, number: Int = 1) {
        self.name = name
        let title = Self.escaped(name.uppercased())
        let manual = number == 1 ? "User Commands" : "File Formats"
        text = ".TH \(title) \(number) \"\(Version.date)\" \"bearerd \(Version.text)\" \"\(manual)\"\n"
        section("NAME")
        line("\(name) - \(purpose)")
        section("SYNOPSIS")
        text += ".B \(Self.escaped(synopsis))\n"
    }

    mutating func section(_ title: String) { text += ".SH \(title)\n" }

    mutating func paragraph(_ words: String) {
        if !text.hasSuffix(".SH DESCRIPTION\n") { text += ".PP\n" }
        line(words)
    }

    mutating func entry(_ term: String, _ words: String) {
        text += ".TP\n.B \(Self.escaped(String(term.drop { $0 == " " })))\n"
        line(words)
    }

    private mutating func finish(seeAlso pages: [String]) {
        section("EXIT STATUS")
        for (status, words) in ExitStatus.meanings { entry("\(status.rawValue)", words) }
        section("SEE ALSO")
        line(pages.map { "\($0)(1)" }.joined(separator: ", "))
    }

    /// Appends a line of text in which no macro is recognised.
    mutating func line(_ words: String) {
        let escaped = Self.escaped(words)
        text += (escaped.first.map { ".'".contains($0) } ?? false ? "\\&" : "") + escaped + "\n"
    }

    /// Lines that are shown as they are, at the beginning of a section.
    mutating func literal(_ lines: String) {
        text += ".nf\n"
        for each in lines.split(separator: "\n", omittingEmptySubsequences: false) { line(String(each)) }
        text += ".fi\n"
    }

    private static func escaped(_ words: String) -> String {
        words.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    }
}
