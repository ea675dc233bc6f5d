// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON of `GET /api/status` and of `bearerd status --json`.
package struct StatusDocument: Sendable {
    package var version: String
    /// Time since the start; nil when no daemon runs.
    package var uptime: Duration?
    package var identities: [IdentityStatus]
    package var routes: [RouteStatus]
    /// What the workers counted; nil when no daemon runs.
    package var requests: RequestCounts?
    /// Protections that the configuration turns off, as sentences.
    package var warnings: [String]
    /// The workers that do not turn, by name: what they counted is what they told last.
    package var silentWorkers: [String]

    package init(
        version: String, uptime: Duration?, identities: [IdentityStatus], routes: [RouteStatus],
        requests: RequestCounts?, warnings: [String] = [], silentWorkers: [String] = []
    ) {
        self.version = version
        self.uptime = uptime
        self.identities = identities
        self.routes = routes
        self.requests = requests
        self.warnings = warnings
        self.silentWorkers = silentWorkers
    }

    /// Reads what ``json`` wrote; an identity or route that this version cannot read is left out.
    ///
    /// - Returns: nil for what is no status at all.
    package init?(_ json: JSONValue) {
        guard let identities = json[AdminMember.identities]?.array else { return nil }
        self.init(
            version: json[AdminMember.version]?.string ?? "",
            uptime: json[AdminMember.uptimeSeconds]?.integer.map { .seconds($0) },
            identities: identities.compactMap { IdentityStatus(admin: $0) },
            routes: json[AdminMember.routes]?.array?.compactMap { RouteStatus($0) } ?? [],
            requests: json[AdminMember.requests].flatMap { RequestCounts($0) },
            warnings: json[AdminMember.warnings]?.array?.compactMap(\.string) ?? [],
            silentWorkers: json[AdminMember.silentWorkers]?.array?.compactMap(\.string) ?? [])
    }

    /// The document; points in time are RFC 3339 in UTC.
    package var json: JSONValue {
        var document: JSONObject = [AdminMember.version: .string(version)]
        if let uptime { document[AdminMember.uptimeSeconds] = .integer(uptime.components.seconds) }
        document[AdminMember.identities] = .array(identities.map(\.json))
        document[AdminMember.routes] = .array(routes.map(\.json))
        if let requests { document[AdminMember.requests] = requests.json }
        if !warnings.isEmpty { document[AdminMember.warnings] = .array(warnings.map { .string($0) }) }
        if !silentWorkers.isEmpty {
            document[AdminMember.silentWorkers] = .array(silentWorkers.map { .string($0) })
        }
        return .object(document)
    }
}
