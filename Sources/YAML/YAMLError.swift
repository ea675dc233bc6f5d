// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a YAML document that bearerd reads; asking again changes nothing.
package struct YAMLError: Error, Equatable, Sendable {
    /// What is wrong.
    package enum Reason: Equatable, Sendable {
        /// The text has more bytes than the limit.
        case tooLarge(limit: Int)
        /// The bytes are not UTF-8.
        case notUTF8
        /// libyaml's own words, which never quote the text.
        case syntax(String)
        /// A tab where only spaces may be: at the beginning of a line.
        case tab
        /// Lists and maps are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text, with its aliases put in, has more values than the limit.
        case tooManyNodes(limit: Int)
        /// A second document follows after `---`.
        case secondDocument
        /// A map's key is a list or a map.
        case keyIsNotScalar
        /// A `<<` key, which YAML 1.2 no longer has.
        case mergeKey
        /// A tag outside YAML's own schema.
        case unknownTag(String)
        /// An alias whose anchor has not been seen.
        case unknownAnchor(String)
        /// An alias inside the very value that it names.
        case recursiveAlias(String)
        /// libyaml had no memory left.
        case outOfMemory
    }

    /// Where the text stops making sense.
    package let mark: Mark
    /// What is wrong there.
    package let reason: Reason
}

extension YAMLError: CustomStringConvertible {
    /// The reason in words, without the place.
    package var description: String {
        switch reason {
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .notUTF8: "the text is not UTF-8"
        case .syntax(let problem): problem
        case .tab: "a tab in the indentation; YAML is indented with spaces"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooManyNodes(let limit): "more than \(limit) values, aliases included"
        case .secondDocument: "a second document; only one is read"
        case .keyIsNotScalar: "a key must be a word, not a list or a map"
        case .mergeKey: "merge keys ('<<') are not supported; write the entries out"
        case .unknownTag(let tag): "the tag '\(tag)' is not supported"
        case .unknownAnchor(let name): "no anchor '&\(name)' comes before this alias"
        case .recursiveAlias(let name): "the alias '*\(name)' stands inside the value that it names"
        case .outOfMemory: "out of memory"
        }
    }
}
