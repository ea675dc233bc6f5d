// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A route's changes to header fields, made in this order: remove, set, add; the values may be secrets of the
/// operator's, so they are never logged.
package struct FieldEdits: Sendable {
    package var remove: [HTTPFields.Name]
    /// Fields that replace all others of their name.
    package var set: [(name: HTTPFields.Name, value: String)]
    /// Fields that are added to others of their name.
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

    /// The names whose fields do not go on as they came.
    package var replacedNames: [HTTPFields.Name] { remove + set.map(\.name) }

    package func apply(to fields: inout HTTPFields) {
        for name in remove { fields.remove(name) }
        for (name, value) in set { fields[name] = value }
        for (name, value) in add { fields.append(name, value) }
    }
}
