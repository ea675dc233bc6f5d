// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

extension JSONObject {
    /// The value of a member that has a name on the wire.
    subscript(member: Member) -> JSONValue? {
        get { self[member.rawValue] }
        set { self[member.rawValue] = newValue }
    }
}

extension JSONValue {
    /// An array of strings.
    static func strings(_ values: [String]) -> JSONValue {
        .array(values.map(JSONValue.string))
    }
}
