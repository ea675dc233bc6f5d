// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdSystem

extension TransferError {
    /// Text for people: fixed words, nothing that was sent or received.
    package var reason: String {
        switch self {
        case .notConnected(let error): error.reason
        case .foreign(let user): "another program is at the other end: \(user.words)"
        case .tooFar:
            "the address is neither this machine's nor one of its own link, and plain http goes no further"
        case .withheld: "the request must not be sent any more"
        case .timedOut: "no answer came in time"
        case .unanswered: "the connection ended before there was an answer"
        case .interrupted: "the connection ended before the answer did"
        case .tooLarge: "the answer is too large"
        case .malformed: "what answers does not speak HTTP"
        case .cancelled: "cancelled"
        case .other(let error): error.reason
        }
    }
}
