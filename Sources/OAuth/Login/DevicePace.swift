// SPDX-License-Identifier: Apache-2.0

/// How often the device flow asks, by the answers that it gets (RFC 8628 §3.5).
struct DevicePace {
    private static let slowDown: Duration = .seconds(5)
    /// A server that does not answer is asked half as often each time, down to this.
    private static let longestInterval: Duration = .seconds(60)
    /// Our words for answers that did not arrive; those that came without a code begin with `http_`.
    private static let silences: Set<String> = [
        "unreachable", "timed_out", "interrupted", "not_http", "empty_answer", "answer_too_large",
        ErrorCode.temporarilyUnavailable.rawValue, ErrorCode.serverError.rawValue,
    ]

    private(set) var interval: Duration

    /// Takes in the answer to a request.
    ///
    /// - Returns: whether to ask again; false for a failure that ends the login.
    /// - Throws: ``LoginError`` for what a person decided, or did not.
    mutating func goesOn(after failure: TokenFailure) throws(LoginError) -> Bool {
        switch ErrorCode(rawValue: failure.code) {
        case .authorizationPending?:
            return true
        case .slowDown?:
            interval += Self.slowDown
            return true
        case .accessDenied?:
            throw .refused(AuthorizationRefusal(code: .accessDenied, description: nil))
        case .expiredToken?:
            throw .expired
        default:
            guard failure.kind == .transient,
                Self.silences.contains(failure.code) || failure.code.hasPrefix("http_")
            else { return false }
            interval = max(interval, min(interval * 2, Self.longestInterval), failure.retryAfter ?? .zero)
            return true
        }
    }
}
