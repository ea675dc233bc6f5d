// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
package import BearerdObservability

/// The counts of requests since the start, in the status.
package struct RequestCounts: Equatable, Sendable {
    package let total: Int
    /// By the status that clients got.
    package let byStatus: [Int: Int]
    /// Requests that were sent again with another token.
    package let replayed: Int
    /// Requests that were refused before they were sent on.
    package let denied: Int
    package let openConnections: Int

    /// Adds up the workers' counts.
    package init(_ metrics: WorkerMetrics) {
        var byStatus: [Int: Int] = [:]
        for route in metrics.routes.values {
            for entry in route.statuses { byStatus[entry.status, default: 0] += entry.count }
        }
        total = byStatus.values.reduce(0, +)
        self.byStatus = byStatus
        replayed = metrics.routes.values.reduce(0) { sum, route in
            sum + ReplayResult.allCases.reduce(0) { $0 + route.replays[$1] }
        }
        denied = DenialReason.allCases.reduce(0) { $0 + metrics.denied[$1] }
        openConnections = metrics.openConnections
    }

    init?(_ json: JSONValue) {
        guard let total = json.count(.total) else { return nil }
        self.total = total
        let entries = json[.byStatus]?.object?.compactMap { status, count in
            Int(status).flatMap { status in count.integer.map { (status, Int($0)) } }
        }
        byStatus = Dictionary(entries ?? []) { _, last in last }
        replayed = json.count(.replayed) ?? 0
        denied = json.count(.denied) ?? 0
        openConnections = json.count(.openConnections) ?? 0
    }

    var json: JSONValue {
        let statuses = byStatus.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue(count: $0.value)) }
        return JSONValue(admin: [
            .total: JSONValue(count: total), .byStatus: .object(JSONObject(members: statuses)),
            .replayed: JSONValue(count: replayed), .denied: JSONValue(count: denied),
            .openConnections: JSONValue(count: openConnections),
        ])
    }
}
