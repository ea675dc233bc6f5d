// SPDX-License-Identifier: Apache-2.0

internal import JSON
package import Observability

/// What the status says of the requests since the start.
package struct RequestCounts: Equatable, Sendable {
    package let total: Int
    /// By the status that clients saw.
    package let byStatus: [Int: Int]
    /// Sent a second time with another token.
    package let replayed: Int
    /// Refused before they were sent on.
    package let denied: Int
    /// Connections of clients that are open.
    package let openConnections: Int

    /// Sums up what the workers counted.
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

    /// Reads what ``json`` wrote.
    init?(_ json: JSONValue) {
        func count(_ member: String) -> Int { json[member]?.integer.map { Int($0) } ?? 0 }
        guard json[AdminMember.total]?.integer != nil else { return nil }
        total = count(AdminMember.total)
        let entries = json[AdminMember.byStatus]?.object?.compactMap { status, count in
            Int(status).flatMap { status in count.integer.map { (status, Int($0)) } }
        }
        byStatus = Dictionary(entries ?? []) { _, last in last }
        replayed = count(AdminMember.replayed)
        denied = count(AdminMember.denied)
        openConnections = count(AdminMember.openConnections)
    }

    /// The member `requests`.
    var json: JSONValue {
        let statuses = byStatus.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue(count: $0.value)) }
        return [
            AdminMember.total: JSONValue(count: total),
            AdminMember.byStatus: .object(JSONObject(members: statuses)),
            AdminMember.replayed: JSONValue(count: replayed),
            AdminMember.denied: JSONValue(count: denied),
            AdminMember.openConnections: JSONValue(count: openConnections),
        ]
    }
}

extension JSONValue {
    fileprivate init(count: Int) { self = .integer(Int64(count)) }
}
