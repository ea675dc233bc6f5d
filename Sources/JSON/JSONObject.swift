// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, in order; every name occurs once.
///
/// Lookup is linear: the objects of OAuth have a few dozen members.
package struct JSONObject: Sendable {
    private var members: [(name: String, value: JSONValue)]

    /// An object without members.
    package init() {
        members = []
    }

    /// An object of these members; of equal names the last value wins, in the first one's place.
    package init(members: some Sequence<(String, JSONValue)>) {
        self.members = []
        // By a table: a search for each name would take a time that grows with the square of their number.
        var places: [String: Int] = [:]
        for (name, value) in members {
            if let place = places[name] {
                self.members[place].value = value
            } else {
                places[name] = self.members.count
                self.members.append((name, value))
            }
        }
    }

    /// For the parser, which has already made the names distinct.
    init(distinct members: [(name: String, value: JSONValue)]) {
        self.members = members
    }

    /// A copy without these members.
    package func without(_ names: Set<String>) -> JSONObject {
        JSONObject(distinct: members.filter { !names.contains($0.name) })
    }

    /// The number of members.
    package var count: Int { members.count }

    /// True if the object has no members.
    package var isEmpty: Bool { members.isEmpty }

    /// The members' names, in order.
    package var names: [String] { members.map(\.name) }

    /// The value of a member.
    ///
    /// Setting keeps the member's place, or appends it; setting nil removes the member, it does not store
    /// `null`.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> IndexingIterator<[(name: String, value: JSONValue)]> {
        members.makeIterator()
    }
}

extension JSONObject: Equatable {
    /// Compares members without regard to their order (RFC 8259 §4).
    package static func == (first: JSONObject, second: JSONObject) -> Bool {
        guard first.count == second.count else { return false }
        let values = Dictionary(second.members.map { ($0.name, $0.value) }) { first, _ in first }
        return first.members.allSatisfy { values[$0.name] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(members: elements)
    }
}
