// SPDX-License-Identifier: Apache-2.0

/// The keys that the reader has asked for and the forms in which it takes them, noted while it reads.
///
/// Sections and keys go by their paths: the item of a list is `[0]`, the member of a map with free names is `NAME`.
final class KeyRecord {
    /// A form in which a key is read; some keys have several.
    enum Form: Hashable {
        case value(ValueSchema)
        case list(ValueSchema)
        /// A map with free names.
        case map(ValueSchema)
        /// A map with free names and anything in it.
        case freeMap
        case section
        /// A value or a section, or a list of such items.
        case items(ValueSchema)
        /// A list of sections.
        case sections
        /// A map from free names to sections.
        case namedSections
    }

    /// The keys of one section, in their order.
    struct Keys: Equatable {
        /// The keys by their first spelling.
        let names: [String]
        /// Every spelling, those of secrets in files included.
        let spellings: [String]
    }

    /// The name that stands for any name of a map.
    static let anyName = "NAME"

    private(set) var sections: [String: Keys] = [:]
    private(set) var forms: [String: [Form]] = [:]

    /// A number that grows with each section and form that was not known.
    var size: Int { forms.values.reduce(sections.count) { $0 + $1.count } }

    func note(section path: String, names: [String], spellings: [String]) {
        sections[path] = Keys(names: names, spellings: spellings)
    }

    func note(_ form: Form, of path: String) {
        guard !forms[path, default: []].contains(form) else { return }
        forms[path, default: []].append(form)
    }

    /// Returns true if a key may hold one of several words.
    func hasWords(_ path: String) -> Bool {
        (forms[path] ?? []).contains { form in
            if case .value(let schema) = form { !schema.words.isEmpty } else { false }
        }
    }

    /// The path of the section that a key holds in this form; nil if it holds none.
    static func section(in form: Form, of key: String) -> String? {
        switch form {
        case .section, .items: key
        case .sections: "\(key)[0]"
        case .namedSections: "\(key).\(anyName)"
        case .value, .list, .map, .freeMap: nil
        }
    }

    static func key(_ spelling: String, in section: String) -> String {
        section.isEmpty ? spelling : "\(section).\(spelling)"
    }
}
