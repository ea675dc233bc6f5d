// SPDX-License-Identifier: Apache-2.0

/// Explanations of libyaml's most common errors, with remedies, for the author of the file.
enum SyntaxWords {
    /// The complaint in words of our own.
    ///
    /// - Parameters:
    ///   - problem: libyaml's `problem`.
    ///   - context: libyaml's `context`, which says in what it occurred.
    ///   - line: the line on which that began.
    /// - Returns: nil for a complaint that is rare, and is told as libyaml has it.
    static func words(for problem: String, _ context: String, line: Int) -> String? {
        switch problem {
        case "mapping values are not allowed in this context":
            "a second ': ' on this line, or a line that is indented too deep; put a value that has ': ' in it in quotes"
        case "did not find expected key":
            "this line is indented neither as a key of the map from line \(line) nor as part of a value: align it"
        case "did not find expected '-' indicator":
            "this line is indented neither as an item of the list from line \(line) nor as part of one: align it"
        case "could not find expected ':'":
            "a key without ':'; it began on line \(line)"
        case "did not find expected ',' or ']'":
            "a list in brackets, begun on line \(line), that is not closed by ']'"
        case "did not find expected ',' or '}'":
            "a map in braces, begun on line \(line), that is not closed by '}'"
        case "found unexpected end of stream": "quotes that are not closed; they began on line \(line)"
        case "found unexpected document indicator":
            "quotes that are not closed before '---'; they began on line \(line)"
        case "block sequence entries are not allowed in this context":
            "a '- ' where no list can begin: it needs a line of its own under its key"
        case "found character that cannot start any token":
            "a character that begins no value: put the value in quotes"
        case "found unknown escape character":
            "a backslash in double quotes that means nothing: use single quotes, or write it twice"
        case "did not find expected node content":
            "there is no value where one should be: one comma or bracket too many"
        case "found undefined tag handle": "a '!' that begins no value: put the value in quotes"
        case "did not find expected <document start>":
            "something that is neither a key nor a list item: align it, or put it in quotes"
        default: nil
        }
    }
}
