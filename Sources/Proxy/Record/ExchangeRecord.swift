// SPDX-License-Identifier: Apache-2.0

/// What the log and the metrics tell of one request.
struct ExchangeRecord {
    /// When the head was there.
    var startedAt = ContinuousClock.now
    /// The status that the client saw; 0 before there is one.
    var status = 0
    /// How we ended it, unless the upstream's answer did.
    var ending: OwnEnding?
    /// Content bytes that were sent to the client.
    var bytesOut: UInt64 = 0
    /// Whether the request was sent once more, with another token.
    var isReplayed = false
    /// Whether the exchange's claims are this request's.
    var hasClaims = false
    /// The program that the caller runs, for the audit.
    var executable: String?
    /// What that program calls itself.
    var command: String?
}
