// SPDX-License-Identifier: Apache-2.0

import JSON
import OAuth

/// The status document as lines for a person.
struct StatusTable {
    private let document: JSONValue

    init(_ document: JSONValue) {
        self.document = document
    }

    /// A row for each identity, and its last error below.
    var text: String {
        let identities = document.object?["identities"]?.array?.compactMap(\.object) ?? []
        guard !identities.isEmpty else { return "no identities\n" }
        var table = TextTable(["IDENTITY", "STATE", "EXPIRES", "LAST REFRESH", "LAST ERROR"])
        for identity in identities {
            table.append([
                identity["name"]?.string ?? "", identity["state"]?.string ?? "",
                identity["expires_at"]?.string ?? "-", identity["last_refresh"]?.string ?? "-",
                identity["last_error"]?.object.map(Self.text) ?? "-",
            ])
        }
        return table.text
    }

    private static func text(of error: JSONObject) -> String {
        IdentityError(code: error["code"]?.string ?? "", detail: error["detail"]?.string ?? "").sentence
    }
}
