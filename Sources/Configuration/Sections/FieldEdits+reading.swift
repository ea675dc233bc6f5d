// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting

extension FieldEdits {
    /// The keys of `request_headers` and `response_headers`.
    enum Key: String, ConfigurationKey {
        case set
        case add
        case remove
    }

    /// Reads the three keys; the objection says why a header may not be edited here, nil if it may.
    init(reading section: Section<Key>, objection: (HTTPFields.Name, Key) -> String?) {
        self.init(
            remove: (section.oneOrMany(.remove, .fieldName) ?? []).compactMap { name in
                if let objection = objection(name.value, .remove) {
                    section.reading.error(objection, at: name.place)
                    return nil
                }
                return name.value
            },
            set: section.fields(.set, objection), add: section.fields(.add, objection))
    }

    /// Headers that frame a message, which only the codec writes (RFC 9110 §7.6.1, RFC 9112 §6).
    static let framing: Set<HTTPFields.Name> = [
        .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade, .keepAlive, .proxyConnection,
    ]
}

extension Section<FieldEdits.Key> {
    fileprivate func fields(
        _ key: FieldEdits.Key, _ objection: (HTTPFields.Name, FieldEdits.Key) -> String?
    ) -> [(name: HTTPFields.Name, value: String)] {
        var known: Set<HTTPFields.Name> = []
        return (map(key, .textThatMayBeEmpty) ?? []).compactMap { name, value in
            guard let field = HTTPFields.Name(name.value) else {
                reading.error("is not the name of a header", at: name.place)
                return nil
            }
            if let objection = objection(field, key) {
                reading.error(objection, at: name.place)
                return nil
            }
            if !known.insert(field).inserted, key == .set {
                reading.error("is set already: headers' names have no case", at: name.place)
                return nil
            }
            return (field, value.value)
        }
    }
}
