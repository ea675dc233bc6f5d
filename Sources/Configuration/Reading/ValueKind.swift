// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// A kind of value that a key can have: it turns a scalar into a value.
struct ValueKind<Value> {
    /// The form of its values, for editors.
    let schema: ValueSchema
    let parse: (ScalarText) throws(ValueError) -> Value

    init(
        _ schema: ValueSchema = .text(form: nil),
        parse: @escaping (ScalarText) throws(ValueError) -> Value
    ) {
        self.schema = schema
        self.parse = parse
    }

    /// A kind for what `read` accepts; anything else is reported as not being `form`.
    static func reading(_ form: String, _ read: @escaping (String) -> Value?) -> ValueKind {
        ValueKind(.text(form: form)) { scalar throws(ValueError) in
            guard let value = read(scalar.text)
            else { throw ValueError("'\(scalar.written)' is not \(form)") }
            return value
        }
    }

    /// A kind that converts or refuses another kind's values.
    func map<Other>(_ transform: @escaping (Value) throws(ValueError) -> Other) -> ValueKind<Other> {
        ValueKind<Other>(schema) { scalar throws(ValueError) in try transform(try parse(scalar)) }
    }

    /// A kind for one of several words, each with its value.
    static func word(of values: [(word: String, value: Value)]) -> ValueKind {
        ValueKind(.words(values.map(\.word))) { scalar throws(ValueError) in
            if let match = values.first(where: { $0.word == scalar.text }) { return match.value }
            let words = values.map(\.word)
            let hint = NearMiss.hint(for: scalar.text, among: words)
            throw ValueError("'\(scalar.written)' is not one of \(words.joined(separator: ", "))\(hint)")
        }
    }

    /// A kind for `true`, `false` or one other word.
    static func flag(on: Value, off: Value, or word: String, _ third: Value) -> ValueKind {
        ValueKind(.either(.flag, .words([word]))) { scalar throws(ValueError) in
            if let flag = scalar.typed.bool { return flag ? on : off }
            guard scalar.text == word
            else { throw ValueError("expected true, false or \(word), found '\(scalar.written)'") }
            return third
        }
    }
}

extension ValueKind<String> {
    /// A text that is not empty and has no control characters.
    static var text: ValueKind { textThatMayBeEmpty.checked("is empty") { !$0.isEmpty } }

    /// The texts of this kind that `fit`; the objection is reported for others.
    func checked(_ objection: String, where fits: @escaping (String) -> Bool) -> ValueKind {
        map { text throws(ValueError) in
            guard fits(text) else { throw ValueError(objection) }
            return text
        }
    }

    /// A text without control characters.
    ///
    /// A number counts as a text; `true` and `false` are probably a slip.
    static var textThatMayBeEmpty: ValueKind {
        ValueKind { scalar throws(ValueError) in
            let isTruth =
                scalar.typed.style == .plain && ["true", "false"].contains(scalar.text.lowercased())
            guard scalar.isExpanded || !isTruth else {
                throw ValueError(
                    "expected a text, found \(scalar.written); put it in quotes if it is meant so")
            }
            guard !scalar.text.utf8.contains(where: \.isControl)
            else { throw ValueError("holds a control character") }
            return scalar.text
        }
    }
}

extension ValueKind<Bool> {
    /// `true` or `false`, exactly.
    static var flag: ValueKind {
        ValueKind(.flag) { scalar throws(ValueError) in
            guard let flag = scalar.typed.bool
            else { throw ValueError("expected true or false, found '\(scalar.written)'") }
            return flag
        }
    }
}

extension ValueKind<Int> {
    static func integer(in range: ClosedRange<Int>) -> ValueKind {
        ValueKind(.integer(range)) { scalar throws(ValueError) in
            guard let number = scalar.typed.integer
            else { throw ValueError("expected a whole number, found '\(scalar.written)'") }
            guard let value = Int(exactly: number), range.contains(value)
            else { throw ValueError("\(scalar.written) is not in \(range.lowerBound)...\(range.upperBound)") }
            return value
        }
    }
}

extension ValueKind where Value: RawRepresentable<String> & CaseIterable {
    /// One of a set of words.
    static var word: ValueKind { word(of: Value.allCases.map { ($0.rawValue, $0) }) }
}
