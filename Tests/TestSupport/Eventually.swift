// SPDX-License-Identifier: Apache-2.0

/// Asks again and again until the answer is yes: for what can only be seen by asking.
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
