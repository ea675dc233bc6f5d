// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// The data of one request for the access log, metrics and audit.
struct ExchangeRecord {
    /// When the head had arrived.
    var startedAt = PreciseInstant.now
    /// The status that the client saw; 0 until there is one.
    var status = 0
    /// The status of a gRPC call, once its answer has said it.
    var grpcStatus: Int?
    /// True if the answer counts as failed when the route is judged.
    var hasFailed = false
    /// How bearerd ended the exchange; nil if the upstream's response did.
    var abortReason: AbortReason?
    /// The content bytes sent to the client.
    var bytesOut: UInt64 = 0
    /// True if the request was sent again with another token.
    var isReplayed = false
    /// True if ``Exchange/claims`` belong to this request.
    var hasClaims = false
    /// The path of the caller's program, for the audit.
    var executable: String?
    /// The name that the caller's process gives itself, for the audit.
    var command: String?

    /// Starts over with the next request, without a new value to move here.
    mutating func begin() {
        startedAt = .now
        status = 0
        grpcStatus = nil
        hasFailed = false
        abortReason = nil
        bytesOut = 0
        isReplayed = false
        hasClaims = false
        if executable != nil { executable = nil }
        if command != nil { command = nil }
    }
}
