// SPDX-License-Identifier: Apache-2.0

/// How long to wait after each of several failures in a row: doubling, with a ceiling.
struct BackOff: Sendable {
    let first: Duration
    let ceiling: Duration

    static let transient = BackOff(first: .milliseconds(200), ceiling: .seconds(30))
    static let misconfigured = BackOff(first: .seconds(1), ceiling: .seconds(300))
    /// Between the refreshes that one route may force.
    static let holdOff = BackOff(first: .seconds(10), ceiling: .seconds(300))

    /// The wait after the `count`th failure in a row, counting from 1; `jitter`, in 0..<1, makes it up to 20 % longer.
    func delay(after count: Int, jitter: Double) -> Duration {
        let doublings = min(max(count - 1, 0), 20)
        let plain = min(first * (1 << doublings), ceiling * 5 / 6)  // the ceiling holds with the jitter added
        return plain + plain * (jitter * 0.2)
    }

    /// The wait that follows one of `previous`.
    func next(after previous: Duration) -> Duration {
        min(previous * 2, ceiling)
    }
}
