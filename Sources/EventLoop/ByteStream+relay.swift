// SPDX-License-Identifier: Apache-2.0

extension ByteStream {
    /// Waits for more of an incomplete message, and has `take` called for what arrives until something is left to do.
    ///
    /// - Parameters:
    ///   - timeout: limits the wait for each arrival of bytes, which records of TLS without data are not; zero waits for ever.
    ///   - take: called by no task when ``input`` has got something; false ends the wait.
    /// - Returns: false if there was no wait, because more has arrived already.
    package func relay(
        within timeout: Duration, by take: @escaping () -> Bool
    ) async throws(StreamError) -> Bool {
        guard isOpen, !readiness.isReadable else { return false }
        releaseStorage()
        try await readiness.readable(within: timeout) { () throws(StreamError) in
            self.allowance.pointee = TurnBudget.relayAllowance
            var arrival = Readiness.Arrival.nothing
            repeat {
                guard let hasBytes = try self.receive() else {
                    // The next wait asks to be told of room for sending; this one, which would go on, has not.
                    if self.readiness.receivesBehindSend { return .forTask }
                    break
                }
                guard hasBytes, take(), !self.turnIsOver else { return .forTask }
                arrival = .taken
            } while self.readiness.isReadable
            self.releaseStorage()
            return arrival
        }
        return true
    }
}
