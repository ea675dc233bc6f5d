// SPDX-License-Identifier: Apache-2.0

/// The settings of tracing: the share of requests to sample, and the queue for their spans.
package struct TracingSettings: Sendable {
    package let queue: SpanQueue
    package let links: RefreshLinks
    /// Random numbers below this bound are sampled; nil samples all.
    private let bound: UInt64?

    /// - Parameter sample: the share, from 0 to 1, of requests for which the client has made no decision.
    package init(queue: SpanQueue, links: RefreshLinks, sample: Double) {
        self.queue = queue
        self.links = links
        bound = sample >= 1 ? nil : UInt64(max(0, sample) * 0x1p64)
    }

    /// Returns true if a random number belongs to the share.
    package func samples(_ random: UInt64) -> Bool { bound.map { random < $0 } ?? true }
}

/// Cheap random numbers for identifiers that need not be unpredictable (SplitMix64).
package struct SpanRandom: Sendable {
    private var state = UInt64.random(in: .min ... .max)

    package init() {}

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a number that is not zero.
    package mutating func nextIdentifier() -> UInt64 {
        let word = next()
        return word == 0 ? 1 : word
    }
}
