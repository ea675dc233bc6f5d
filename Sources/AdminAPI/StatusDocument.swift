// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth
package import Observability

/// The JSON of `GET /api/status` and of `bearerd status --json`.
package struct StatusDocument: Sendable {
    package var version: String
    /// Time since the start; nil when no daemon runs.
    package var uptime: Duration?
    package var identities: [IdentityStatus]
    package var routes: [AdminRoute]
    /// What the workers counted; nil when no daemon runs.
    package var requests: WorkerMetrics?
    /// Protections that the configuration turns off, as sentences.
    package var warnings: [String]

    package init(
        version: String, uptime: Duration?, identities: [IdentityStatus], routes: [AdminRoute],
        requests: WorkerMetrics?, warnings: [String] = []
    ) {
        self.version = version
        self.uptime = uptime
        self.identities = identities
        self.routes = routes
        self.requests = requests
        self.warnings = warnings
    }

    /// The document; points in time are RFC 3339 in UTC.
    package var json: JSONValue {
        var document: JSONObject = ["version": .string(version)]
        if let uptime { document["uptime_seconds"] = .integer(uptime.components.seconds) }
        document["identities"] = .array(identities.map(\.json))
        document["routes"] = .array(routes.map(\.json))
        if let requests { document["requests"] = requests.json }
        if !warnings.isEmpty { document["warnings"] = .array(warnings.map { .string($0) }) }
        return .object(document)
    }
}

extension IdentityStatus {
    /// One entry of `identities`.
    var json: JSONValue {
        var entry: JSONObject = [
            "name": .string(name),
            "state": .string(state.rawValue),
            "generation": .integer(Int64(generation)),
            "expires_at": expiresAt?.json ?? .null,
            "scope": .string(scope.joined(separator: " ")),
            "last_refresh": lastRefresh?.json ?? .null,
            "last_error": lastError?.json ?? .null,
        ]
        if !tokens.isEmpty { entry["tokens"] = .array(tokens.map(\.json)) }
        return .object(entry)
    }
}

extension TokenStatus {
    /// One entry of an identity's `tokens`, where routes ask for their own.
    fileprivate var json: JSONValue {
        func words(_ list: [String]?) -> JSONValue { .string((list ?? []).joined(separator: " ")) }
        return [
            "scope": words(target.scope),
            "audience": words(target.audience),
            "resource": words(target.resource),
            "state": .string(state.rawValue),
            "expires_at": expiresAt?.json ?? .null,
            "last_error": lastError?.json ?? .null,
        ]
    }
}

extension IdentityError {
    fileprivate var json: JSONValue {
        ["code": .string(code), "detail": .string(detail), "at": at?.json ?? .null]
    }
}

extension WallTime {
    fileprivate var json: JSONValue { .string(Timestamp.text(unixSeconds: secondsSinceEpoch)) }
}

extension AdminRoute {
    fileprivate var json: JSONValue {
        [
            "path": .string(path),
            "upstream": .string(upstream),
            "identity": identity.map { .string($0) } ?? "none",
        ]
    }
}

extension WorkerMetrics {
    fileprivate var json: JSONValue {
        var byStatus: [Int: Int] = [:]
        for route in routes {
            for entry in route.statuses { byStatus[entry.status, default: 0] += entry.count }
        }
        let replays = routes.reduce(0) { sum, route in
            sum + ReplayResult.allCases.reduce(0) { $0 + route.replays[$1] }
        }
        return [
            "total": .integer(Int64(byStatus.values.reduce(0, +))),
            "by_status": .object(
                JSONObject(
                    members: byStatus.sorted { $0.key < $1.key }.map {
                        ("\($0.key)", .integer(Int64($0.value)))
                    })),
            "replayed": .integer(Int64(replays)),
            "denied": .integer(Int64(DenialReason.allCases.reduce(0) { $0 + denied[$1] })),
            "open_connections": .integer(Int64(openConnections)),
        ]
    }
}
