// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// What a route does to the fields of a head, in this order: remove, set, add.
///
/// The values may be secrets of the operator's: they are never logged.
package struct FieldEdits: Sendable {
    /// Taken out.
    package var remove: [HTTPFields.Name]
    /// Put in the place of any of the same name.
    package var set: [(name: HTTPFields.Name, value: String)]
    /// Put beside any of the same name.
    package var add: [(name: HTTPFields.Name, value: String)]

    package init(
        remove: [HTTPFields.Name] = [], set: [(name: HTTPFields.Name, value: String)] = [],
        add: [(name: HTTPFields.Name, value: String)] = []
    ) {
        self.remove = remove
        self.set = set
        self.add = add
    }

    /// Whether nothing is changed.
    package var isEmpty: Bool { remove.isEmpty && set.isEmpty && add.isEmpty }

    /// The names whose fields, as they came, do not go on.
    package var replacedNames: [HTTPFields.Name] { remove + set.map(\.name) }

    /// Carries the edits out on `fields`.
    package func apply(to fields: inout HTTPFields) {
        for name in remove { fields.remove(name) }
        for (name, value) in set { fields[name] = value }
        for (name, value) in add { fields.append(name, value) }
    }
}
