// SPDX-License-Identifier: Apache-2.0

internal import YAML

/// A type of value that a key can have: how a scalar becomes one.
struct ValueKind<Value> {
    let parse: (ScalarText) throws(ValueError) -> Value

    /// A kind that takes what `read` can read; everything else is not `form`.
    static func reading(_ form: String, _ read: @escaping (String) -> Value?) -> ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let value = read(scalar.text) else {
                throw ValueError("'\(scalar.written)' is not \(form)")
            }
            return value
        }
    }

    /// A kind whose values are another kind's, turned into something else or refused.
    func map<Other>(_ transform: @escaping (Value) throws(ValueError) -> Other) -> ValueKind<Other> {
        ValueKind<Other> { scalar throws(ValueError) in try transform(try parse(scalar)) }
    }
}

extension ValueKind<String> {
    /// A text with something in it, without control characters.
    static var text: ValueKind {
        textThatMayBeEmpty.map { text throws(ValueError) in
            guard !text.isEmpty else { throw ValueError("is empty") }
            return text
        }
    }

    /// A text without control characters.
    ///
    /// Numbers are texts too; a truth is probably a slip.
    static var textThatMayBeEmpty: ValueKind {
        ValueKind { scalar throws(ValueError) in
            let isTruth =
                scalar.typed.style == .plain && ["true", "false"].contains(scalar.text.lowercased())
            guard scalar.isExpanded || !isTruth else {
                throw ValueError(
                    "expected a text, found \(scalar.written); put it in quotes if it is meant so")
            }
            guard !scalar.text.utf8.contains(where: \.isControl) else {
                throw ValueError("holds a control character")
            }
            return scalar.text
        }
    }
}

extension ValueKind<Bool> {
    /// `true` or `false`, nothing near it.
    static var flag: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let flag = scalar.typed.bool else {
                throw ValueError("expected true or false, found '\(scalar.written)'")
            }
            return flag
        }
    }
}

extension ValueKind<Int> {
    /// A whole number within bounds.
    static func integer(in range: ClosedRange<Int>) -> ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let number = scalar.typed.integer else {
                throw ValueError("expected a whole number, found '\(scalar.written)'")
            }
            guard let value = Int(exactly: number), range.contains(value) else {
                throw ValueError("\(scalar.written) is not in \(range.lowerBound)...\(range.upperBound)")
            }
            return value
        }
    }
}

extension ValueKind where Value: RawRepresentable<String> & CaseIterable {
    /// One of a few words.
    static var word: ValueKind {
        ValueKind { scalar throws(ValueError) in
            if let value = Value(rawValue: scalar.text) { return value }
            let words = Value.allCases.map(\.rawValue)
            let hint = NearMiss.hint(for: scalar.text, among: words)
            throw ValueError("'\(scalar.written)' is not one of \(words.joined(separator: ", "))\(hint)")
        }
    }
}
