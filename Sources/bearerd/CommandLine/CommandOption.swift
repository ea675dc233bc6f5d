// SPDX-License-Identifier: Apache-2.0

/// An option of a command: `--NAME`, or `--NAME VALUE` and `--NAME=VALUE`.
struct CommandOption: Sendable, Equatable {
    /// The long name, without its dashes.
    let name: String
    /// The one-letter name, where it has one.
    let letter: Character?
    /// What the value is called in the help; nil for an option without one.
    let value: String?
    /// What it does, in one line.
    let summary: String

    /// Of how many words the value is.
    var wordCount: Int { value.map { $0.split(separator: " ").count } ?? 0 }

    init(_ name: String, letter: Character? = nil, value: String? = nil, _ summary: String) {
        self.name = name
        self.letter = letter
        self.value = value
        self.summary = summary
    }

    /// Every command has these two.
    static let config = CommandOption(
        "config", letter: "c", value: "FILE",
        "the configuration (else $BEARERD_CONFIG, config.yaml here, in ~/.config/bearerd or /etc/bearerd)")
    static let help = CommandOption("help", letter: "h", "this help")

    /// What may be given as a value.
    enum Form: Equatable {
        case file
        case oneOf([String])
        case text
    }

    /// The form of its value; nil for an option without one.
    var form: Form? { value.map(Self.form(of:)) }

    /// What a word of the help stands for: `FILE`, or `access|refresh`.
    static func form(of word: String) -> Form {
        if word == "FILE" { return .file }
        return word.contains("|") ? .oneOf(word.split(separator: "|").map(String.init)) : .text
    }

    /// How it is written in the help: `-c, --config FILE`.
    var usage: String {
        (letter.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0)" } ?? "")
    }
}
