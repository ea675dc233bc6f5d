// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
internal import BearerdSystem
internal import BearerdYAML

/// One map of the file, read key by key.
///
/// Initialising it reports unknown and repeated keys; each accessor reports a value of the wrong type. An accessor
/// returns nil if the key is absent or its value was reported.
struct Section<Key: ConfigurationKey> {
    /// The place of the section's key, or of the map itself in a list.
    let place: Place
    let reading: Reading
    /// False for a section that is no map, which was reported; then no key is reported as missing.
    let isMap: Bool
    private var entries: [String: YAMLMapping.Entry] = [:]
    /// The keys that unknown ones were probably meant to be.
    private var misspelt: Set<Key> = []

    /// Begins to read the map under a key; the node is nil if the file does not have the key.
    ///
    /// - Parameter usable: the keys that make sense beside what the file says elsewhere; others are unknown keys.
    init(_ node: YAMLNode?, at place: Place, reading: Reading, usable: Usable? = nil) {
        self.place = place
        self.reading = reading
        let mapping = node.map { reading.mapping($0, at: place) } ?? YAMLMapping()
        isMap = mapping != nil
        reading.record?.note(
            section: place.path, names: Key.allCases.map(\.rawValue), spellings: Key.spellings)
        guard let mapping else { return }
        lazy var spellings = usable?.keys.flatMap(\.spellings).sorted() ?? Key.spellings
        for entry in mapping.entries {
            let place = place.key(entry.key, at: entry.mark)
            let key = Key.spelled(entry.key)
            if let key, usable?.keys.contains(key) ?? true {
                entries[entry.key] = entry
                reading.stands(entry.value, at: place)
            } else if let key, let objection = usable?.objection(key) {
                reading.error(objection, at: place)
            } else {
                let meant = reading.unknownKey(entry.key, at: place, among: spellings)
                if let key = meant.flatMap(Key.spelled) { misspelt.insert(key) }
            }
        }
    }

    /// The keys that make sense in a section of one kind.
    struct Usable {
        let keys: Set<Key>
        /// Why a key of another kind is refused.
        let objection: (Key) -> String
    }

    /// Returns true if the file has the key, well-formed or not.
    func has(_ key: Key) -> Bool { has(spelling: key.rawValue) }

    /// Returns true if the file has a map under the key.
    func hasMap(_ key: Key) -> Bool {
        if case .mapping = entries[key.rawValue]?.value.content { true } else { false }
    }

    /// Returns true if the file has a map or a list with something in it under the key.
    func hasEntries(_ key: Key) -> Bool {
        switch entries[key.rawValue]?.value.content {
        case .mapping(let mapping): !mapping.entries.isEmpty
        case .sequence(let items): !items.isEmpty
        case .scalar, nil: false
        }
    }

    /// Returns true if the file has the secret in any form.
    func hasSecret(_ key: Key) -> Bool { key.spellings.contains(where: has(spelling:)) }

    /// Returns true if an error leaves open what the file says for this key: it may be misspelt or have a wrong
    /// value.
    ///
    /// Consequences of such an error are not reported as errors of their own.
    func isInDoubt(_ key: Key) -> Bool {
        misspelt.contains(key)
            || key.spellings.contains { reading.isFaulty(place.key($0, at: place.mark).path) }
    }

    /// Returns true if the file has the key under this spelling.
    func has(spelling: String) -> Bool { entries[spelling] != nil }

    /// The place of the key's value, or of the section if the key is absent.
    func place(of key: Key) -> Place { place(ofSpelling: key.rawValue) }

    func error(_ key: Key, _ reason: String) { reading.error(reason, at: place(of: key)) }
    func warn(_ key: Key, _ reason: String) { reading.warn(reason, at: place(of: key)) }

    func require(_ key: Key, _ reason: String = "is missing") {
        guard isMap, !has(key), !isInDoubt(key) else { return }
        error(key, reason)
    }

    func value<Value>(_ key: Key, _ kind: ValueKind<Value>) -> Found<Value>? {
        value(spelled: key.rawValue, kind)
    }

    func value<Value>(_ key: Key, _ kind: ValueKind<Value>, default standard: Value) -> Value {
        value(key, kind)?.value ?? standard
    }

    /// The value of a flag; nil if it cannot be known.
    func flag(_ key: Key) -> Bool? {
        if let flag = value(key, .flag)?.value { return flag }
        return isInDoubt(key) ? nil : false
    }

    /// The value of a key under one of its other spellings.
    func value<Value>(spelled spelling: String, _ kind: ValueKind<Value>) -> Found<Value>? {
        note(.value(kind.schema), spelling)
        return entries[spelling].flatMap { reading.value($0.value, kind, at: place(ofSpelling: spelling)) }
    }

    /// The items of a list.
    func list<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        note(.list(kind.schema), key.rawValue)
        return node(key).flatMap { reading.list($0, kind, at: place(of: key)) }
    }

    /// Notes the form in which a key is read, where that is wanted.
    private func note(_ form: @autoclosure () -> KeyRecord.Form, _ spelling: String) {
        guard let record = reading.record else { return }
        record.note(form(), of: KeyRecord.key(spelling, in: place.path))
    }

    private func node(_ key: Key) -> YAMLNode? { entries[key.rawValue]?.value }

    private func mapping(_ key: Key) -> YAMLMapping? {
        node(key).flatMap { reading.mapping($0, at: place(of: key)) }
    }

    /// The items of a list; a single value counts as a list of one.
    func oneOrMany<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        note(.value(kind.schema), key.rawValue)
        note(.list(kind.schema), key.rawValue)
        guard let node = node(key), case .scalar = node.content else { return list(key, kind) }
        return reading.value(node, kind, at: place(of: key)).map { [$0] }
    }

    /// The items of a list, or a single one; each is a value, or a map that `read` reads.
    func oneOrMany<Value, Inner: ConfigurationKey>(
        _ key: Key, _ kind: ValueKind<Value>, or read: (Section<Inner>) -> Found<Value>?
    ) -> [Found<Value>]? {
        note(.items(kind.schema), key.rawValue)
        func value(of node: YAMLNode, at place: Place) -> Found<Value>? {
            guard case .mapping = node.content else { return reading.value(node, kind, at: place) }
            return read(Section<Inner>(node, at: place, reading: reading))
        }
        guard let node = node(key) else { return nil }
        let place = place(of: key)
        guard case .sequence(let items) = node.content else { return value(of: node, at: place).map { [$0] } }
        let values = items.enumerated().compactMap { index, item in
            value(of: item, at: place.item(index, at: item.mark))
        }
        return values.count == items.count ? values : nil
    }

    /// The items of a list, or the words of a text.
    func words<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [Found<Value>]? {
        note(.value(.text(form: "words, separated by spaces")), key.rawValue)
        note(.list(kind.schema), key.rawValue)
        guard let node = node(key), case .scalar = node.content else { return list(key, kind) }
        let place = place(of: key)
        return reading.scalar(node, at: place)?.words.compactMap { reading.value($0, kind, at: place) }
    }

    /// Returns true if a variable was expanded in the key's value.
    func isFromEnvironment(_ key: Key) -> Bool {
        node(key).flatMap { reading.scalar($0, at: place(of: key)) }?.isExpanded ?? false
    }

    /// A program with its arguments, run without a shell; an empty list means none.
    func command(_ key: Key) -> [String]? {
        var words = list(key, .textThatMayBeEmpty)?.map(\.value)
        if words?.first?.isEmpty == true { error(key, "needs a program before its arguments") }
        if words?.contains(where: { $0.utf8.contains(0) }) == true { error(key, "has a zero byte in it") }
        if let objection = words?.first?.objectionToTilde { error(key, objection) }
        // A program without a slash is searched on PATH.
        if let program = words?.first, program.contains("/") { words?[0] = reading.resolved(program) }
        return words
    }

    /// A command that is run when something happens, and whose program is there by then.
    func hook(_ key: Key) -> [String]? {
        let words = command(key)
        guard !isInDoubt(key), let program = words?.first, let obstacle = ChildProcess.obstacle(to: program)
        else {
            return words
        }
        // The daemon's PATH may be another one.
        if program.contains("/") {
            error(key, "\(program) \(obstacle)")
        } else {
            warn(key, "\(program) \(obstacle)")
        }
        return words
    }

    /// The entries of a map with free names, in order.
    func map<Value>(_ key: Key, _ kind: ValueKind<Value>) -> [(name: Found<String>, value: Found<Value>)]? {
        note(.map(kind.schema), key.rawValue)
        return mapping(key)?.entries.compactMap { entry in
            let place = place(of: key).key(entry.key, at: entry.mark)
            let value = reading.value(entry.value, kind, at: reading.place(place, of: entry.value))
            return value.map { (Found(value: entry.key, place: place), $0) }
        }
    }

    /// A map with free names and any JSON as values; reports names to which `objection` objects.
    func members(_ key: Key, objection: (String) -> String?) -> JSONObject {
        note(.freeMap, key.rawValue)
        return mapping(key).map { reading.members($0, at: place(of: key), objection: objection) }
            ?? JSONObject()
    }

    /// The section under a key; an empty one if the key is absent.
    func section<Inner: ConfigurationKey>(_ key: Key, _: Inner.Type = Inner.self) -> Section<Inner> {
        note(.section, key.rawValue)
        let entry = entries[key.rawValue]
        let place = place.key(key.rawValue, at: entry?.mark ?? place.mark)
        return Section<Inner>(entry?.value, at: place, reading: reading)
    }

    /// The sections of a list; none if it is absent.
    func sections<Inner: ConfigurationKey>(_ key: Key, _: Inner.Type = Inner.self) -> [Section<Inner>]? {
        note(.sections, key.rawValue)
        guard isMap, has(key) || !isInDoubt(key) else { return nil }
        guard let node = node(key) else { return [] }
        let place = place(of: key)
        return reading.items(node, at: place)?.enumerated().map { index, item in
            Section<Inner>(item, at: place.item(index, at: item.mark), reading: reading)
        }
    }

    /// The sections of a map with free names, in order; none if it is absent.
    ///
    /// - Returns: nil if the file probably has them, but in a form that could not be read.
    func namedSections<Inner: ConfigurationKey>(
        _ key: Key, _: Inner.Type = Inner.self,
        usable: (YAMLNode) -> Section<Inner>.Usable? = { _ in nil }
    ) -> [(name: Found<String>, section: Section<Inner>)]? {
        note(.namedSections, key.rawValue)
        guard isMap, has(key) || !isInDoubt(key) else { return nil }
        guard has(key) else { return [] }
        return mapping(key)?.entries.map { entry in
            let place = place(of: key).key(entry.key, at: entry.mark)
            let section = Section<Inner>(
                entry.value, at: place, reading: reading, usable: usable(entry.value))
            return (Found(value: entry.key, place: place), section)
        }
    }

    func place(ofSpelling spelling: String) -> Place {
        guard let entry = entries[spelling] else { return place.key(spelling, at: place.mark) }
        return reading.place(place.key(spelling, at: entry.mark), of: entry.value)
    }
}
