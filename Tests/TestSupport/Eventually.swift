// SPDX-License-Identifier: Apache-2.0

/// Waits by polling until `holds` returns true, for conditions of which nothing tells.
package func eventually(
    _ awaited: String, within limit: Duration = patience, _ holds: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    let pace = Gate()
    while try !holds() {
        guard ContinuousClock.now < deadline else { throw TimedOut(awaited) }
        try? pace.pass(within: .milliseconds(20))
    }
}

extension Monitor<Int> {
    /// Waits until no more bytes arrive because every buffer on the way is full.
    package func awaitStandstill(of sender: String) throws {
        var before = 0
        try eventually("\(sender) to be held back") {
            let now = withLock { $0 }
            defer { before = now }
            _ = try? Gate().pass(within: .milliseconds(200))
            return now == before && now > 0
        }
    }
}
