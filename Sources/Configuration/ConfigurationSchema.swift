// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
package import BearerdJSON
internal import BearerdYAML

/// The JSON Schema (draft 7) of a configuration, made of what the reader asks for, so that it knows the same keys.
///
/// The reader runs over documents that are made for it: one with every key that is known so far, and one for each word that a
/// key may hold, again and again until it asks for nothing new.
package enum ConfigurationSchema {
    /// The schema.
    ///
    /// - Parameter version: of the program, for people.
    package static func json(version: String) -> JSONValue {
        let record = exploredKeys()
        var root = object(of: "", record)
        root["$schema"] = "http://json-schema.org/draft-07/schema#"
        root["title"] = "The configuration of bearerd \(version)".json
        root["definitions"] = [
            "variable": [
                "type": "string", "pattern": #"\$\{"#, "description": "${NAME}: an environment variable",
            ]
        ]
        return .object(root)
    }

    // MARK: Explore

    static func exploredKeys() -> KeyRecord {
        let record = KeyRecord()
        read("{}", noting: record)
        var size = 0
        while record.size > size {
            size = record.size
            read(document(of: "", record), noting: record)
            for (key, forms) in record.forms {
                for case .value(let schema) in forms {
                    for word in schema.words {
                        read(document(of: "", record, key: key, word: word), noting: record)
                    }
                }
            }
        }
        return record
    }

    private static func read(_ text: String, noting record: KeyRecord) {
        guard let node = try? YAMLNode.parse(Array(text.utf8)) else { return }
        let reading = Reading(environment: { _ in nil }, record: record)
        _ = Configuration(reading: Section<RootKey>(node, at: .root, reading: reading))
    }

    /// A document with every key of a section but those that hold a word, as YAML: the sections in it too, everything
    /// else as an empty map.
    ///
    /// - Parameters:
    ///   - key: the path of a key that holds a word instead.
    private static func document(
        of section: String, _ record: KeyRecord, key: String? = nil, word: String = ""
    ) -> String {
        let members = (record.sections[section]?.names ?? []).compactMap { name -> String? in
            let path = KeyRecord.key(name, in: section)
            if path == key { return "\(name): \"\(word)\"" }
            // With such a key the reader may go another way, and pass by what it reads without.
            guard !record.hasWords(path) else { return nil }
            let inner = record.forms[path]?.compactMap { form in
                KeyRecord.section(in: form, of: path).map { (form, $0) }
            }.first
            guard let (form, innerPath) = inner else { return "\(name): {}" }
            let text = document(of: innerPath, record, key: key, word: word)
            return switch form {
            case .sections: "\(name): [\(text)]"
            case .namedSections: "\(name): {\(KeyRecord.anyName): \(text)}"
            case .section, .items, .value, .list, .map, .freeMap: "\(name): \(text)"
            }
        }
        return "{\(members.joined(separator: ", "))}"
    }

    // MARK: Write

    private static func object(of section: String, _ record: KeyRecord) -> JSONObject {
        var properties = JSONObject()
        for spelling in record.sections[section]?.spellings ?? [] {
            properties[spelling] = schema(of: KeyRecord.key(spelling, in: section), record)
        }
        return [
            // A key without a value is an empty section.
            "type": ["object", "null"], "properties": .object(properties), "additionalProperties": false,
        ]
    }

    private static func schema(of key: String, _ record: KeyRecord) -> JSONValue {
        let schemas = (record.forms[key] ?? []).map { schema(of: $0, key, record) }
        return schemas.count == 1 ? schemas[0] : schemas.isEmpty ? [:] : ["anyOf": .array(schemas)]
    }

    private static func schema(of form: KeyRecord.Form, _ key: String, _ record: KeyRecord) -> JSONValue {
        func inner() -> JSONValue {
            KeyRecord.section(in: form, of: key).map { .object(object(of: $0, record)) } ?? [:]
        }
        return switch form {
        case .value(let value): value.json
        case .list(let value): ["type": "array", "items": value.json]
        case .map(let value): ["type": ["object", "null"], "additionalProperties": value.json]
        case .freeMap: ["type": ["object", "null"]]
        case .section: inner()
        case .items(let value):
            [
                "anyOf": [
                    value.json, inner(), ["type": "array", "items": ["anyOf": [value.json, inner()]]],
                ]
            ]
        case .sections: ["type": ["array", "null"], "items": inner()]
        case .namedSections: ["type": ["object", "null"], "additionalProperties": inner()]
        }
    }
}

extension String {
    fileprivate var json: JSONValue { .string(self) }
}
