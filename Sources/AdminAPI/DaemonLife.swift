// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
package import OAuth

/// The process of a running daemon, and its start.
package struct DaemonLife: Equatable, Sendable {
    package let processID: Int32
    package let startedAt: WallTime

    package init(processID: Int32, startedAt: WallTime) {
        self.processID = processID
        self.startedAt = startedAt
    }

    /// Reads the members of the status; nil if no daemon tells it.
    init?(_ json: JSONValue) {
        guard let number = json.count(.pid).flatMap({ Int32(exactly: $0) }), number > 0,
            let startedAt = WallTime(json[.startedAt])
        else { return nil }
        self.init(processID: number, startedAt: startedAt)
    }
}
