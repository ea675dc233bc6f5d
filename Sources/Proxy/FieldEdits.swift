// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// What a route does to the fields of a head, in this order: remove, set, add.
package struct FieldEdits: Sendable {
    package var remove: [HTTPFields.Name]
    package var set: [(name: HTTPFields.Name, value: String)]
    package var add: [(name: HTTPFields.Name, value: String)]

    package init(
        remove: [HTTPFields.Name] = [], set: [(name: HTTPFields.Name, value: String)] = [],
        add: [(name: HTTPFields.Name, value: String)] = []
    ) {
        self.remove = remove
        self.set = set
        self.add = add
    }

    package var isEmpty: Bool { remove.isEmpty && set.isEmpty && add.isEmpty }

    /// The names whose fields, as they came, do not go on.
    var replacedNames: [HTTPFields.Name] { remove + set.map(\.name) }

    /// Carries the edits out on `fields`.
    func apply(to fields: inout HTTPFields) {
        for name in remove { fields.remove(name) }
        for (name, value) in set { fields[name] = value }
        for (name, value) in add { fields.append(name, value) }
    }
}

extension HTTPFields {
    /// These fields but for those with one of the names.
    func without(_ names: [Name]) -> HTTPFields {
        guard !names.isEmpty else { return self }
        var fields = self
        for name in names { fields.remove(name) }
        return fields
    }
}
