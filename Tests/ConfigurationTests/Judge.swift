// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import BearerdYAML
import Testing

/// Judges documents by a JSON Schema, as far as ours goes; a word that it does not know is a failure.
struct Judge {
    private let definitions: JSONValue

    init(_ schema: JSONValue) { definitions = schema["definitions"] ?? .null }

    /// The places in a document that the schema refuses.
    func objections(to value: JSONValue, by schema: JSONValue, at place: String = "") -> [String] {
        guard let rules = schema.object else { return schema == false ? [place] : [] }
        var places: [String] = []
        for (name, rule) in rules {
            switch name {
            case "$schema", "title", "description", "definitions": break
            case "$ref":
                let definition = rule.string.flatMap {
                    definitions[String($0.split(separator: "/").last ?? "")]
                }
                places += objections(to: value, by: definition ?? false, at: place)
            case "type": if !has(value, rule) { places.append(place) }
            case "enum": if rule.array?.contains(value) != true { places.append(place) }
            case "minimum": if value.number ?? .infinity < rule.number ?? 0 { places.append(place) }
            case "maximum": if value.number ?? 0 > rule.number ?? 0 { places.append(place) }
            case "pattern":
                if value.string.map({ matches($0, rule.string ?? "") }) == false { places.append(place) }
            case "anyOf":
                let results = (rule.array ?? []).map { objections(to: value, by: $0, at: place) }
                if !results.contains([]) { places += results.first { $0 != [place] } ?? [place] }
            case "properties", "additionalProperties":
                // Both are judged with the first of them.
                guard name == "properties" || rules["properties"] == nil else { continue }
                for (key, member) in value.object ?? [:] {
                    let inner = rules["properties"]?[key] ?? rules["additionalProperties"] ?? true
                    places += objections(to: member, by: inner, at: place.isEmpty ? key : "\(place).\(key)")
                }
            case "items":
                for (index, item) in (value.array ?? []).enumerated() {
                    places += objections(to: item, by: rule, at: "\(place).\(index)")
                }
            default: Issue.record("the schema says '\(name)', which nothing judges")
            }
        }
        return places
    }

    private func has(_ value: JSONValue, _ type: JSONValue) -> Bool {
        let types = type.array ?? [type]
        return types.contains { type in
            switch (type.string, value) {
            case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer),
                ("number", .real),
                ("string", .string), ("array", .array), ("object", .object):
                true
            default: false
            }
        }
    }

    private func matches(_ text: String, _ pattern: String) -> Bool {
        guard let expression = try? Regex(pattern) else { return false }
        return text.firstMatch(of: expression) != nil
    }
}

/// A YAML text as JSON, typed as editors type it.
func document(_ text: String) -> JSONValue {
    guard let node = try? YAMLNode.parse(Array(text.utf8)) else { return .null }
    return json(node)
}

private func json(_ node: YAMLNode) -> JSONValue {
    switch node.content {
    case .sequence(let items): .array(items.map(json))
    case .mapping(let mapping): .object(JSONObject(members: mapping.entries.map { ($0.key, json($0.value)) }))
    case .scalar(let scalar):
        scalar.isNull
            ? .null
            : scalar.bool.map { .bool($0) } ?? scalar.integer.map { .integer($0) }
                ?? (scalar.style == .plain ? Double(scalar.text).map { .real($0) } : nil)
                ?? .string(scalar.text)
    }
}
