// SPDX-License-Identifier: Apache-2.0

/// Somebody who waits for a token.
struct Waiter: Sendable {
    enum Wish: Sendable {
        /// Any token that has not expired.
        case token
        /// The token that the renewal under way brings; the present one where that takes until this moment, or fails.
        case renewed(after: Int, until: Instant)
        /// The end of an attempt that had not ended when so many had.
        case renewal(after: Int)
        /// Whether a refused request is sent again.
        case verdict(TokenRejection)
    }

    let id: WaiterID
    let target: TokenTarget
    let wish: Wish
    let deadline: Instant

    /// The moments at which its answer may change by itself.
    var moments: [Instant] {
        if case .renewed(_, let end) = wish { [deadline, end] } else { [deadline] }
    }
}
