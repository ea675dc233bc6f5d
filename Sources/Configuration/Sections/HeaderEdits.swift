// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// What is changed in the headers of a request or response (`request_headers`, `response_headers`).
package struct HeaderEdits: Sendable {
    /// One header to put in.
    package struct Field: Sendable {
        /// The field's name.
        package let name: HTTPFields.Name
        /// The field's value, which may be a secret of the operator's: never logged.
        package let value: String
    }

    /// Put in the place of any of the same name.
    package let set: [Field]
    /// Put beside any of the same name.
    package let add: [Field]
    /// Taken out.
    package let remove: [HTTPFields.Name]

    /// Whether nothing is changed.
    package var isEmpty: Bool { add.isEmpty && remove.isEmpty && self.set.isEmpty }
}

extension HeaderEdits {
    enum Key: String, ConfigurationKey {
        case set
        case add
        case remove
    }

    /// Reads the three keys; the objection says why a header may not be edited here, nil if it may.
    init(reading section: Section<Key>, objection: (HTTPFields.Name) -> String?) {
        set = section.fields(.set, objection)
        add = section.fields(.add, objection)
        remove = (section.oneOrMany(.remove, .fieldName) ?? []).compactMap { name in
            if let objection = objection(name.value) {
                section.reading.error(objection, at: name.place)
                return nil
            }
            return name.value
        }
    }

    /// Headers that frame a message, which only the codec writes (RFC 9110 §7.6.1, RFC 9112 §6).
    static let framing: Set<HTTPFields.Name> = [
        .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade, .keepAlive, .proxyConnection,
    ]
}

extension Section<HeaderEdits.Key> {
    fileprivate func fields(
        _ key: HeaderEdits.Key, _ objection: (HTTPFields.Name) -> String?
    ) -> [HeaderEdits.Field] {
        var known: Set<HTTPFields.Name> = []
        return (map(key, .textThatMayBeEmpty) ?? []).compactMap { name, value in
            guard let field = HTTPFields.Name(name.value) else {
                reading.error("is not the name of a header", at: name.place)
                return nil
            }
            if let objection = objection(field) {
                reading.error(objection, at: name.place)
                return nil
            }
            if !known.insert(field).inserted, key == .set {
                reading.error("is set already: headers' names have no case", at: name.place)
                return nil
            }
            return HeaderEdits.Field(name: field, value: value.value)
        }
    }
}
