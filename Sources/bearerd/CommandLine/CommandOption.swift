// SPDX-License-Identifier: Apache-2.0

/// An option of a command: `--NAME`, or `--NAME VALUE` and `--NAME=VALUE`.
struct CommandOption: Sendable, Equatable {
    /// The long name, without its dashes.
    let name: String
    /// The one-letter name; nil without one.
    let letter: Character?
    /// The placeholder of the value in the help; nil for an option without a value.
    let value: String?
    /// The option's purpose, in one line.
    let summary: String

    /// The number of words in the value.
    var wordCount: Int { value.map { $0.split(separator: " ").count } ?? 0 }

    init(_ name: String, letter: Character? = nil, value: String? = nil, _ summary: String) {
        self.name = name
        self.letter = letter
        self.value = value
        self.summary = summary
    }

    /// The options of every command.
    static let config = CommandOption(
        "config", letter: "c", value: "FILE",
        "the configuration (else $BEARERD_CONFIG, config.yaml here, in ~/.config/bearerd or /etc/bearerd)")
    static let help = CommandOption("help", letter: "h", "this help")

    /// The form of a value.
    enum Form: Equatable {
        case file
        case oneOf([String])
        case text
    }

    /// The form of the option's value; nil for an option without one.
    var form: Form? { value.map(Self.form(of:)) }

    /// The form that a placeholder of the help stands for: `FILE`, or `access|refresh`.
    static func form(of word: String) -> Form {
        if word == "FILE" { return .file }
        return word.contains("|") ? .oneOf(word.split(separator: "|").map(String.init)) : .text
    }

    /// The option as the help shows it: `-c, --config FILE`.
    var usage: String {
        (letter.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0)" } ?? "")
    }
}
