// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// A request on whose exchange with an upstream no response came, and the rule by which it may be sent again.
///
/// A kept connection may have died meanwhile. The request is then sent again on a new one if its body can be sent again
/// and its method is idempotent, or no byte has been sent (RFC 9110 §9.2.2). A request that the upstream declares
/// unprocessed is sent again whatever its method (RFC 9113 §8.7), and once more where the second connection, which others
/// share and which may be as old as the first, ends like that one.
struct RequestLoss {
    /// The error for the client, if it is not sent again.
    let failure: ProxyError
    /// True if the kept connection had been closed by the upstream before the request.
    let wasStale: Bool
    /// True if the upstream wants the request by another protocol.
    let wantsOtherProtocol: Bool
    /// True if it may be sent by that one: the upstream has not begun to process it, or its method is idempotent.
    let isDeclined: Bool
    /// True if the upstream has said that it did not process the request.
    private let isUnprocessed: Bool
    /// True if nothing is done twice that must be done once.
    private let isSafe: Bool
    private let loss: ResponseLoss

    /// - Parameters:
    ///   - error: what the exchange ended with.
    ///   - upstream: the exchange, before it is discarded.
    ///   - isIdempotent: true if the request's method is.
    ///   - isClientOpen: true if a response could still be sent to the client.
    init(_ error: ProxyError, on upstream: some UpstreamExchange, isIdempotent: Bool, isClientOpen: Bool) {
        loss = upstream.loss
        failure = error == .upstreamClosed ? ProxyError(loss) : error
        isUnprocessed = upstream.isLeftUnprocessed && isClientOpen
        wantsOtherProtocol = upstream.wantsOtherProtocol
        isDeclined = wantsOtherProtocol && (isIdempotent || !upstream.hasReadInterim)
        wasStale =
            error == .upstreamClosed && !isUnprocessed && !isDeclined && !upstream.isFirst
            && !upstream.hasArrived && !upstream.hasReadInterim && isClientOpen
        isSafe = isIdempotent || !upstream.outgoing.hasSent
    }

    /// Returns true if the request may be sent once more, as far as its body can be.
    ///
    /// - Parameter count: how many attempts there were before this one.
    func isWorthAnother(after count: Int) -> Bool {
        switch count {
        case 0: isUnprocessed || wasStale && isSafe
        case 1: isUnprocessed && loss != .exchange
        default: false
        }
    }
}
