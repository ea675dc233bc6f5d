// SPDX-License-Identifier: Apache-2.0

package import OAuth

extension TokenTarget {
    /// Each part that is set, with its name in the configuration.
    package var parts: [(name: String, words: [String])] {
        let allowed = permissions?.map { "\($0.name)=\($0.value)" }
        let lists = [
            ("scope", scope), ("audience", audience), ("resource", resource), ("repositories", repositories),
            ("permissions", allowed),
        ]
        return lists.compactMap { name, list in list.map { (name, $0) } }
    }

    /// The target as it tells one token of an identity from another, like `scope: read, audience: orders`.
    package var words: String {
        let words = parts.filter { !$0.words.isEmpty }
            .map { "\($0.name): \($0.words.joined(separator: " "))" }
        return words.isEmpty ? "no scope" : words.joined(separator: ", ")
    }
}
