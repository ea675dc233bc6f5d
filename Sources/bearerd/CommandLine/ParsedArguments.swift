// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration

/// The parsed words after a command.
struct ParsedArguments {
    /// All commands, for those that describe them.
    let catalog: CommandCatalog
    private var values: [String: String] = [:]
    /// The word that is not an option.
    private(set) var operand: String?

    /// Parses the words for a command with these options.
    ///
    /// - Throws: a failure of usage that names the faulty word.
    init(
        _ words: [String], options: [CommandOption], operand operandName: String?, catalog: CommandCatalog
    ) throws(CommandFailure) {
        self.catalog = catalog
        var rest = words[...]
        var areOptionsOver = false
        while let word = rest.popFirst() {
            if areOptionsOver || !word.hasPrefix("-") || word == "-" {
                guard operandName != nil, operand == nil else {
                    let mayBeFile = options.contains { $0.name == CommandOption.config.name }
                    let hint = mayBeFile ? word.hintOfConfiguration.map { ": \($0)" } ?? "" : ""
                    throw CommandFailure(.usage, "unexpected argument '\(word)'\(hint)")
                }
                operand = word
            } else if word == "--" {
                areOptionsOver = true
            } else {
                try take(word, &rest, options)
            }
        }
    }

    /// Returns true if the option was given.
    func has(_ option: CommandOption) -> Bool { values[option.name] != nil }

    /// The last value of an option; several words are separated by a space.
    func value(_ option: CommandOption) -> String? { values[option.name] }

    /// The value of an option as a duration, written as in the configuration.
    ///
    /// - Throws: a failure of usage for anything else.
    func duration(_ option: CommandOption) throws(CommandFailure) -> Duration? {
        guard let text = value(option) else { return nil }
        guard let duration = Duration(configured: text) else {
            throw CommandFailure(
                .usage, "--\(option.name): '\(text)' is not a duration like 500ms, 30s, 5m or 1h")
        }
        return duration
    }

    private mutating func take(
        _ word: String, _ rest: inout ArraySlice<String>, _ options: [CommandOption]
    ) throws(CommandFailure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let written = String(parts[0])
        guard let option = options.first(where: { "--\($0.name)" == written || $0.isLetter(written) }) else {
            let hint = NearMiss.hint(for: written, among: options.map { "--\($0.name)" })
            throw CommandFailure(.usage, "unknown option '\(written)'\(hint)")
        }
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let valueName = option.value else {
            guard attached == nil else { throw CommandFailure(.usage, "'\(written)' takes no value") }
            values[option.name] = ""
            return
        }
        var words: [String] = []
        for place in 0..<option.wordCount {
            guard let word = (place == 0 ? attached : nil) ?? rest.popFirst() else {
                throw CommandFailure(.usage, "'\(written)' needs a value: \(valueName)")
            }
            words.append(word)
        }
        values[option.name] = words.joined(separator: " ")
    }
}

extension CommandOption {
    fileprivate func isLetter(_ word: String) -> Bool {
        letter.map { word == "-\($0)" } ?? false
    }
}
