// SPDX-License-Identifier: Apache-2.0

/// A pool whose upstream may want to be spoken to otherwise, which connecting shows.
package protocol NegotiatingPool: ExchangePool {
    /// True if ``isChosen(within:)`` answers without waiting.
    var isKnown: Bool { get }

    /// Finds out whether requests are to go by this pool; connects where nothing says so already.
    ///
    /// - Parameter timeout: of the connecting; zero waits for ever.
    func isChosen(within timeout: Duration) async throws(UpstreamError) -> Bool

    /// True if requests do not go by this pool because the upstream has refused them, rather than chosen otherwise.
    var isRefused: Bool { get }

    /// True if the upstream has lately refused a request by this pool that could not be sent again: those like it had better
    /// not go by it.
    var losesRequests: Bool { get }
}
