// SPDX-License-Identifier: Apache-2.0

/// Somebody who waits for a token.
struct Waiter: Sendable {
    enum Wish: Sendable {
        /// Any token that has not expired.
        case token
        /// The token of the attempt that had not ended when so many had; the present one after this moment.
        case renewed(after: Int, until: Instant)
        /// The end of an attempt that had not ended when so many had.
        case attempt(after: Int)
        /// A verdict on a refused request: it is sent again or not.
        case verdict(TokenRejection)
    }

    let id: WaiterID
    let target: TargetID
    let wish: Wish
    let deadline: Instant

    /// When its answer may change by itself, after `now`: one that waits on for a token has its deadline left.
    func moment(after now: Instant) -> Instant {
        if case .renewed(_, let end) = wish, end > now { min(deadline, end) } else { deadline }
    }
}
