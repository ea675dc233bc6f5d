// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON

/// The form of a single value, as far as a JSON Schema can tell it.
enum ValueSchema: Hashable {
    /// A text, in a form that only the reader can judge; nil for any text.
    case text(form: String?)
    /// A text that matches a regular expression (ECMA-262), as editors know it.
    case pattern(String, form: String)
    /// One of these words.
    case words([String])
    /// `true` or `false`.
    case flag
    /// A whole number in a range.
    case integer(ClosedRange<Int>)
    /// A number of bytes, with or without a unit.
    case size(ClosedRange<Int>)
    /// A number from 0 to 1.
    case share
    /// Any single value, kept with its type.
    case any
    /// Either of two forms.
    indirect case either(ValueSchema, ValueSchema)

    /// The schema of a text with a variable in it.
    private static let variable: JSONValue = ["$ref": "#/definitions/variable"]

    /// The words that it names, with which the reader may take another way.
    var words: [String] {
        switch self {
        case .words(let words): words
        case .either(let one, let other): one.words + other.words
        case .text, .pattern, .flag, .integer, .size, .share, .any: []
        }
    }

    /// The schema of the value, or of a text with a variable in it, whose value nobody knows before the start.
    var json: JSONValue {
        switch self {
        case .text(let form):
            // A number counts as a text.
            Self.described(["type": ["string", "number"]], form)
        case .any: ["type": ["string", "number", "boolean"]]
        case .pattern, .words, .flag, .integer, .size, .share, .either:
            ["anyOf": .array(alternatives + [Self.variable])]
        }
    }

    private var alternatives: [JSONValue] {
        switch self {
        case .text, .any: [json]
        case .pattern(let pattern, let form):
            [Self.described(["type": "string", "pattern": .string(pattern)], form)]
        case .words(let words): [["enum": .array(words.map { .string($0) })]]
        case .flag: [["type": "boolean"]]
        case .integer(let range): [Self.number("integer", range)]
        case .size(let range):
            [
                Self.number("integer", range),
                Self.described(
                    ["type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)?$"],
                    "a size like 65536, 64KiB or 1MiB"),
            ]
        case .share: [["type": "number", "minimum": 0, "maximum": 1]]
        case .either(let one, let other): one.alternatives + other.alternatives
        }
    }

    private static func number(_ type: String, _ range: ClosedRange<Int>) -> JSONValue {
        var members: JSONObject = ["type": .string(type), "minimum": .integer(Int64(range.lowerBound))]
        if range.upperBound < .max { members["maximum"] = .integer(Int64(range.upperBound)) }
        return .object(members)
    }

    private static func described(_ schema: JSONObject, _ form: String?) -> JSONValue {
        var schema = schema
        schema["description"] = form.map { .string($0) }
        return .object(schema)
    }
}
