// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The result of a ``SessionTransfer`` as JSON.
package struct SessionTransferReport: Sendable {
    /// The finished login; nil if none was to be finished.
    package let login: Login?
    /// True if an import changed anything.
    package let isChanged: Bool

    package init(login: Login? = nil, isChanged: Bool = true) {
        self.login = login
        self.isChanged = isChanged
    }

    package init?(_ json: JSONValue) {
        guard let isChanged = json[.isChanged]?.bool else { return nil }
        self.isChanged = isChanged
        login = json[.hasRefreshToken]?.bool.map { hasRefreshToken in
            Login(
                hasRefreshToken: hasRefreshToken, hasIDToken: json[.hasIDToken]?.bool ?? false,
                personName: json[.person]?.string)
        }
    }

    /// `{"changed":true,"has_refresh_token":true,"has_id_token":true}`.
    package var json: JSONValue {
        JSONValue(admin: [
            .isChanged: .bool(isChanged), .hasRefreshToken: (login?.hasRefreshToken).map(JSONValue.bool),
            .hasIDToken: (login?.hasIDToken).map(JSONValue.bool),
            .person: (login?.personName).map(JSONValue.string),
        ])
    }
}
