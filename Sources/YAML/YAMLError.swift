// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is no YAML document that bearerd reads.
package struct YAMLError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case tooLarge(limit: Int)
        case notUTF8
        case syntax(String)
        /// A tab in the indentation.
        case tab
        case tooDeep(limit: Int)
        /// The text has more values than the limit, aliases expanded.
        case tooManyNodes(limit: Int)
        /// A second document follows after `---`.
        case secondDocument
        /// A key is a list or a map.
        case keyIsNotScalar
        /// A `<<` key, which YAML 1.2 no longer has.
        case mergeKey
        /// A tag outside YAML's own schema.
        case unknownTag(String)
        /// An alias without an anchor before it.
        case unknownAnchor(String)
        /// An alias inside the value that it names.
        case recursiveAlias(String)
        case outOfMemory
    }

    package let mark: Mark
    package let reason: Reason
}

extension YAMLError: CustomStringConvertible {
    /// The reason, without the place.
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
