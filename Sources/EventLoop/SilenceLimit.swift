// SPDX-License-Identifier: Apache-2.0

/// The limit of a wait that events may end which bring nothing to read, such as records of TLS without data.
///
/// Those are silence, too: the wait goes on, and does not begin anew with each of them. The first one alone does so, because a
/// wait that ends with the first event reads no clock; the whole takes at most twice the time-out.
struct SilenceLimit {
    private let timeout: Duration
    private var hasWaited = false
    // Of a fixed size: a variable of a type whose size the library tells takes four allocations of each wait.
    private var end: CoarseInstant?

    /// - Parameter timeout: zero or less waits for ever.
    init(_ timeout: Duration) { self.timeout = timeout }

    /// The time-out of the next wait.
    ///
    /// - Throws: ``StreamError/timedOut`` if there is none any more.
    @inline(__always)
    mutating func next() throws(StreamError) -> Duration {
        guard hasWaited, timeout > .zero else {
            hasWaited = true
            return timeout
        }
        return try rest()
    }

    private mutating func rest() throws(StreamError) -> Duration {
        let now = CoarseInstant.now
        let end = self.end ?? now + timeout
        self.end = end
        guard now < end else { throw .timedOut }
        return end.duration(since: now)
    }
}
