// SPDX-License-Identifier: Apache-2.0

internal import JSON
internal import YAML

/// One map of the file, read key by key.
///
/// Making one reports the keys that are unknown or repeated; each accessor reports a value of the wrong type. What an
/// accessor returns is nil when the key is absent or its value was reported.
struct Section<Key: ConfigurationKey> {
    /// Where the map stands: its key's place, or its own as an item of a list.
    let place: Place
    /// Where problems go.
    let reading: Reading
    /// Whether the section is a map, or absent; if not, that is reported, and nothing is missed in it.
    let isMap: Bool
    private var entries: [String: YAMLMapping.Entry] = [:]
    /// The keys that unknown ones were probably meant to be.
    private var misspelt: Set<Key> = []

    /// Begins to read the map under a key; the node is nil when the key is not in the file.
    init(_ node: YAMLNode?, at place: Place, reading: Reading) {
        self.place = place
        self.reading = reading
        let mapping = node.map { reading.mapping($0, at: place) } ?? YAMLMapping()
        isMap = mapping != nil
        guard let mapping else { return }
        for entry in mapping.entries {
            let place = place.key(entry.key, at: entry.mark)
            if Key.spelled(entry.key) != nil {
                entries[entry.key] = entry
                reading.stands(entry.value, at: place)
            } else {
                reading.error("unknown key\(NearMiss.hint(for: entry.key, among: Key.spellings))", at: place)
                let meant = NearMiss.best(for: entry.key, among: Key.spellings)
                if let key = meant.flatMap(Key.spelled) { misspelt.insert(key) }
            }
        }
    }

    /// Whether the file has the key, well-formed or not.
    func has(_ key: Key) -> Bool {
        has(spelling: key.rawValue)
    }

    /// Whether the file has a map under the key.
    func hasMap(_ key: Key) -> Bool {
        if case .mapping = entries[key.rawValue]?.value.content { true } else { false }
    }

    /// Whether the file has a map or a list with something in it under the key.
    func hasEntries(_ key: Key) -> Bool {
        switch entries[key.rawValue]?.value.content {
        case .mapping(let mapping): !mapping.entries.isEmpty
        case .sequence(let items): !items.isEmpty
        case .scalar, nil: false
        }
    }

    /// Whether the file has a secret, in whatever form.
    func hasSecret(_ key: Key) -> Bool {
        has(key) || SecretForm.allCases.contains { has(spelling: key.rawValue + $0.suffix) }
    }

    /// Whether an error was reported that leaves open what the file says by this key.
    ///
    /// It may be misspelt, or its value is wrong. What only follows from that is not worth an error of its own.
    func isInDoubt(_ key: Key) -> Bool {
        let forms = key.isSecret ? SecretForm.allCases.map(\.suffix) : []
        return misspelt.contains(key)
            || ([""] + forms).contains { suffix in
                reading.isFaulty(place.key(key.rawValue + suffix, at: place.mark).path)
            }
    }

    /// Whether the file has the key under this spelling.
    func has(spelling: String) -> Bool {
        entries[spelling] != nil
    }

    /// Where the key's value stands; the section's own place when the key is absent.
    func place(of key: Key) -> Place {
        place(ofSpelling: key.rawValue)
    }

    /// Reports a problem with a key's value.
    func error(_ key: Key, _ reason: String) {
        reading.error(reason, at: place(of: key))
    }

    /// Reports something about a key's value that somebody should look at.
    func warn(_ key: Key, _ reason: String) {
        reading.warn(reason, at: place(of: key))
    }

    /// Reports a key that must be there and is not.
    func require(_ key: Key, _ reason: String = "is missing") {
        guard isMap, !has(key), !isInDoubt(key) else { return }
        error(key, reason)
    }

    /// The value of a key.
    func value<Value>(_ key: Key, _ kind: ValueKind<Value>) -> Found<Value>? {
        value(spelled: key.rawValue, kind)
    }

    /// The value of a key, or what stands for it when the key is absent.
    func value<Value>(_ key: Key, _ kind: ValueKind<Value>, default standard: Value) -> Value {
        value(key, kind)?.value ?? standard
    }

    /// Whether a flag is set; nil where that cannot be known.
    func flag(_ key: Key) -> Bool? {
        if let flag = value(key, .flag)?.value { return flag }
        return isInDoubt(key) ? nil : false
    }

    /// The value of a key under one of its other spellings.
    func value<Value>(spelled spelling: String, _ kind: ValueKind<Value>) -> Found<Value>? {
        guard let node = entries[spelling]?.value else { return nil }
        return reading.value(node, kind, at: place(ofSpelling: spelling))
    }

    /// The items of a list.
    func list<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        guard let node = entries[key.rawValue]?.value else { return nil }
        return reading.list(node, kind, at: place(of: key))
    }

    /// The items of a list, or the only one written without a list.
    func oneOrMany<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        guard let node = entries[key.rawValue]?.value else { return nil }
        guard case .scalar = node.content else { return list(key, kind) }
        return reading.value(node, kind, at: place(of: key)).map { [$0] }
    }

    /// The items of a list, or the words of a text with spaces between them.
    func words<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        guard let node = entries[key.rawValue]?.value else { return nil }
        guard case .scalar = node.content else { return list(key, kind) }
        let place = place(of: key)
        return reading.scalar(node, at: place)?.words.compactMap { reading.value($0, kind, at: place) }
    }

    /// Whether a variable of the environment was put into a key's value.
    func isFromEnvironment(_ key: Key) -> Bool {
        guard let node = entries[key.rawValue]?.value else { return false }
        return reading.scalar(node, at: place(of: key))?.isExpanded ?? false
    }

    /// A program with its arguments, run without a shell; none if the list is empty.
    func command(_ key: Key) -> [String]? {
        var words = list(key, .textThatMayBeEmpty)?.map(\.value)
        if words?.first?.isEmpty == true { error(key, "needs a program before its arguments") }
        if words?.contains(where: { $0.utf8.contains(0) }) == true { error(key, "has a zero byte in it") }
        // A program without a slash is searched on PATH.
        if let program = words?.first, program.contains("/") { words?[0] = reading.resolved(program) }
        return words
    }

    /// The entries of a map from free names to values, in order.
    func map<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [(name: Found<String>, value: Found<Value>)]? {
        guard let node = entries[key.rawValue]?.value, let mapping = reading.mapping(node, at: place(of: key))
        else { return nil }
        return mapping.entries.compactMap { entry in
            let place = place(of: key).key(entry.key, at: entry.mark)
            guard let value = reading.value(entry.value, kind, at: reading.place(place, of: entry.value))
            else {
                return nil
            }
            return (Found(value: entry.key, place: place), value)
        }
    }

    /// A map from free names to JSON of any shape, without those whose name `objection` speaks against.
    func members(_ key: Key, objection: (String) -> String?) -> JSONObject {
        guard let node = entries[key.rawValue]?.value, let mapping = reading.mapping(node, at: place(of: key))
        else { return JSONObject() }
        return reading.members(mapping, at: place(of: key), objection: objection)
    }

    /// The section under a key; one without entries when the key is absent.
    func section<Inner: ConfigurationKey>(_ key: Key, _: Inner.Type = Inner.self) -> Section<Inner> {
        let entry = entries[key.rawValue]
        let place = place.key(key.rawValue, at: entry?.mark ?? place.mark)
        return Section<Inner>(entry?.value, at: place, reading: reading)
    }

    /// The maps of a list; an absent one is as good as an empty one.
    func sections<Inner: ConfigurationKey>(_ key: Key, _: Inner.Type = Inner.self) -> [Section<Inner>]? {
        guard isMap, has(key) || !isInDoubt(key) else { return nil }
        guard let node = entries[key.rawValue]?.value else { return [] }
        let place = place(of: key)
        return reading.items(node, at: place)?.enumerated().map { index, item in
            Section<Inner>(item, at: place.item(index, at: item.mark), reading: reading)
        }
    }

    /// The maps of a map from free names, in order; an absent one is as good as an empty one.
    ///
    /// - Returns: nil where the file probably has them, but not in a way that could be read.
    func namedSections<Inner: ConfigurationKey>(
        _ key: Key, _: Inner.Type = Inner.self
    ) -> [(name: Found<String>, section: Section<Inner>)]? {
        guard isMap, has(key) || !isInDoubt(key) else { return nil }
        guard let node = entries[key.rawValue]?.value else { return [] }
        guard let mapping = reading.mapping(node, at: place(of: key)) else { return nil }
        return mapping.entries.map { entry in
            let place = place(of: key).key(entry.key, at: entry.mark)
            let section = Section<Inner>(entry.value, at: place, reading: reading)
            return (Found(value: entry.key, place: place), section)
        }
    }

    /// Where the value of one spelling of a key stands.
    func place(ofSpelling spelling: String) -> Place {
        guard let entry = entries[spelling] else { return place.key(spelling, at: place.mark) }
        return reading.place(place.key(spelling, at: entry.mark), of: entry.value)
    }
}
