// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// A scalar with its environment variables expanded.
struct ScalarText {
    let text: String
    /// The value as it stands in the file, for messages: a variable may hold a secret.
    let written: String
    /// The value with its type; the value of a variable is typed by its looks, quoted or not.
    let typed: YAMLScalar
    /// True if a variable was expanded.
    let isExpanded: Bool

    /// Expands the variables.
    ///
    /// - Throws: for a variable that is not set, and for `${` without a name and `}`.
    init(_ scalar: YAMLScalar, environment: (String) -> String?) throws(ValueError) {
        written = scalar.text
        let expanded = try ScalarText.expand(scalar.text, with: environment)
        isExpanded = expanded.hasVariables
        text = expanded.text
        typed = YAMLScalar(expanded.text, style: expanded.hasVariables ? .plain : scalar.style)
    }

    private init(word: Substring, of whole: ScalarText) {
        text = String(word)
        written = whole.isExpanded ? whole.written : text
        typed = YAMLScalar(text, style: whole.typed.style)
        isExpanded = whole.isExpanded
    }

    /// The words of the text, split at white space.
    var words: [ScalarText] {
        text.split(whereSeparator: \.isWhitespace).map { ScalarText(word: $0, of: self) }
    }

    private static func expand(
        _ text: String, with environment: (String) -> String?
    ) throws(ValueError) -> (text: String, hasVariables: Bool) {
        var result = ""
        var hasVariables = false
        var rest = Substring(text)
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else {
                    throw ValueError("'${' without '}'; write '$${' for the characters themselves")
                }
                let name = rest[rest.index(rest.startIndex, offsetBy: 2)..<end]
                guard isVariableName(name)
                else { throw ValueError("'\(name)' is not a name of an environment variable") }
                guard let value = environment(String(name))
                else { throw ValueError("the environment variable \(name) is not set") }
                result += value
                hasVariables = true
                rest = rest[rest.index(after: end)...]
            } else {
                result += "$"
                rest = rest.dropFirst()
            }
        }
        return (result + rest, hasVariables)
    }

    private static func isVariableName(_ name: Substring) -> Bool {
        guard let first = name.utf8.first, !first.isDigit else { return false }
        return name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isLetter || $0.isDigit }
    }
}
