// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

extension Person {
    private enum Member: String {
        case id
        case email
        case isEmailVerified = "email_verified"
    }

    /// The person as a store keeps them, and a command hands them on.
    package var json: JSONObject {
        var object = JSONObject()
        object[Member.id.rawValue] = id.map { .string($0) }
        object[Member.email.rawValue] = email.map { .string($0) }
        object[Member.isEmailVerified.rawValue] = .bool(isEmailVerified)
        return object
    }

    /// Reads what ``json`` wrote; what is missing is not known.
    package init(_ object: JSONObject) {
        self.init(
            id: object[Member.id.rawValue]?.string, email: object[Member.email.rawValue]?.string,
            isEmailVerified: object[Member.isEmailVerified.rawValue]?.bool ?? false)
    }
}
