// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
internal import BearerdYAML

/// Turns nodes into values and reports those that do not fit.
extension Reading {
    /// The entries of a map; a node without a value counts as an empty map.
    func mapping(_ node: YAMLNode, at place: Place) -> YAMLMapping? {
        switch node.content {
        case .mapping(let mapping):
            for entry in mapping.duplicates {
                let first = mapping[entry.key]?.mark.line ?? entry.mark.line
                error("the key is there already, on line \(first)", at: place.key(entry.key, at: entry.mark))
            }
            return mapping
        case .scalar(let scalar) where scalar.isNull: return YAMLMapping()
        case .scalar, .sequence:
            error("expected a map, found \(node.kindInWords)", at: self.place(place, of: node))
            return nil
        }
    }

    /// The items of a list; a node without a value counts as an empty list.
    func items(_ node: YAMLNode, at place: Place) -> [YAMLNode]? {
        switch node.content {
        case .sequence(let items): return items
        case .scalar(let scalar) where scalar.isNull: return []
        case .scalar, .mapping:
            error("expected a list, found \(node.kindInWords)", at: self.place(place, of: node))
            return nil
        }
    }

    /// A list of values of one kind; nil if it is no list or an item was reported.
    func list<Value>(_ node: YAMLNode, _ kind: ValueKind<Value>, at place: Place) -> [Found<Value>]? {
        guard case .sequence(let items) = node.content else {
            error("expected a list, found \(node.kindInWords)", at: place)
            return nil
        }
        let values = items.enumerated().compactMap { index, item in
            value(item, kind, at: place.item(index, at: item.mark))
        }
        return values.count == items.count ? values : nil
    }

    func value<Value>(_ node: YAMLNode, _ kind: ValueKind<Value>, at place: Place) -> Found<Value>? {
        scalar(node, at: place).flatMap { value($0, kind, at: place) }
    }

    /// A value of one kind, from a scalar whose variables are expanded.
    func value<Value>(_ scalar: ScalarText, _ kind: ValueKind<Value>, at place: Place) -> Found<Value>? {
        do throws(ValueError) {
            return Found(value: try kind.parse(scalar), place: place)
        } catch {
            self.error(error.reason, at: place)
            return nil
        }
    }

    /// JSON with the types that YAML gives; the depth is bounded by that of the file.
    func json(_ node: YAMLNode, at place: Place) -> JSONValue? {
        switch node.content {
        case .scalar: value(node, .json, at: self.place(place, of: node))?.value
        case .sequence(let items):
            .array(
                items.enumerated().compactMap { index, item in
                    json(item, at: place.item(index, at: item.mark))
                })
        case .mapping: mapping(node, at: place).map { .object(members($0, at: place)) }
        }
    }

    /// The members of a map as JSON; reports names to which `objection` objects.
    func members(
        _ mapping: YAMLMapping, at place: Place, objection: (String) -> String? = { _ in nil }
    ) -> JSONObject {
        var object = JSONObject()
        for entry in mapping.entries {
            let place = place.key(entry.key, at: entry.mark)
            if let objection = objection(entry.key) { error(objection, at: place) }
            object[entry.key] = json(entry.value, at: place)
        }
        return object
    }

    /// A scalar with its variables expanded.
    func scalar(_ node: YAMLNode, at place: Place) -> ScalarText? {
        guard case .scalar(let scalar) = node.content else {
            error("expected a single value, found \(node.kindInWords)", at: place)
            return nil
        }
        guard !scalar.isNull else {
            error("has no value", at: place)
            return nil
        }
        if let quote = scalar.typographicQuote {
            error(
                "begins with \(quote), a quotation mark of print, which is part of the value here; YAML's are \" and '",
                at: place)
            return nil
        }
        do throws(ValueError) {
            return try ScalarText(scalar, environment: environment)
        } catch {
            self.error(error.reason, at: place)
            return nil
        }
    }

    /// The place of a key's value, or of the key if it has none.
    func place(_ key: Place, of node: YAMLNode) -> Place {
        if case .scalar(let scalar) = node.content, scalar.isNull { return key }
        return Place(path: key.path, mark: node.mark)
    }
}

extension YAMLScalar {
    /// A quotation mark of a word processor with which the value begins; nil if it has none, or is quoted itself.
    fileprivate var typographicQuote: Character? {
        guard style == .plain, let first = text.first else { return nil }
        return "“”„‟‘’‚‛«»‹›".contains(first) ? first : nil
    }
}

extension YAMLNode {
    fileprivate var kindInWords: String {
        switch content {
        case .scalar(let scalar): scalar.isNull ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a map"
        }
    }
}
