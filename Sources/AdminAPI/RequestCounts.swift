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

    private enum Member {
        static let total = "total"
        static let byStatus = "by_status"
        static let replayed = "replayed"
        static let denied = "denied"
        static let openConnections = "open_connections"
    }

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
        guard json[Member.total]?.integer != nil else { return nil }
        total = count(Member.total)
        let entries = json[Member.byStatus]?.object?.compactMap { status, count in
            Int(status).flatMap { status in count.integer.map { (status, Int($0)) } }
        }
        byStatus = Dictionary(entries ?? []) { _, last in last }
        replayed = count(Member.replayed)
        denied = count(Member.denied)
        openConnections = count(Member.openConnections)
    }

    /// The member `requests`.
    var json: JSONValue {
        let statuses = byStatus.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue(count: $0.value)) }
        return [
            Member.total: JSONValue(count: total),
            Member.byStatus: .object(JSONObject(members: statuses)),
            Member.replayed: JSONValue(count: replayed),
            Member.denied: JSONValue(count: denied),
            Member.openConnections: JSONValue(count: openConnections),
        ]
    }
}

extension JSONValue {
    fileprivate init(count: Int) { self = .integer(Int64(count)) }
}
