// SPDX-License-Identifier: Apache-2.0

/// A pool whose upstream may want to be spoken to otherwise, which connecting shows.
package protocol NegotiatingPool: ExchangePool {
    /// True if ``isSpoken(within:)`` answers without waiting.
    var isSettled: Bool { get }

    /// Finds out whether requests are to go by this pool; connects where nothing says so already.
    ///
    /// - Parameter timeout: of the connecting; zero waits for ever.
    func isSpoken(within timeout: Duration) async throws(UpstreamError) -> Bool
}
