// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON that tells what became of a ``SessionHandover``.
package struct HandoverReport: Sendable {
    /// What a finished login brought; nil where none was to be finished.
    package let login: Login?
    /// Whether an import changed anything.
    package let isChanged: Bool

    private enum Member: String {
        case hasRefreshToken = "has_refresh_token"
        case hasIDToken = "has_id_token"
        case person
        case isChanged = "changed"
    }

    package init(login: Login? = nil, isChanged: Bool = true) {
        self.login = login
        self.isChanged = isChanged
    }

    /// Reads what ``json`` wrote.
    package init?(_ json: JSONValue) {
        guard let isChanged = json[Member.isChanged.rawValue]?.bool else { return nil }
        self.isChanged = isChanged
        login = json[Member.hasRefreshToken.rawValue]?.bool.map { hasRefreshToken in
            Login(
                hasRefreshToken: hasRefreshToken,
                hasIDToken: json[Member.hasIDToken.rawValue]?.bool ?? false,
                person: json[Member.person.rawValue]?.string)
        }
    }

    /// `{"changed":true,"has_refresh_token":true,"has_id_token":true}`.
    package var json: JSONValue {
        var object = JSONObject()
        object[Member.isChanged.rawValue] = .bool(isChanged)
        if let login {
            object[Member.hasRefreshToken.rawValue] = .bool(login.hasRefreshToken)
            object[Member.hasIDToken.rawValue] = .bool(login.hasIDToken)
            object[Member.person.rawValue] = login.person.map(JSONValue.string)
        }
        return .object(object)
    }
}
