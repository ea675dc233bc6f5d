// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability
internal import OAuth

/// A failed answer in the words of whoever gave it, for the log and the status; it repeats no secret.
struct AnswerFailure: Equatable, Sendable {
    /// The status that the client saw.
    let status: Int
    /// Why there is an answer of our own; nil for one of the upstream.
    private var cause: String?
    /// The upstream's verdict on the token; nil if the answer is not about the token.
    private var refusal: TokenRefusal?
    private var identity: String?

    /// Our own answer in the upstream's place.
    init(status: Int, cause: String) {
        self.status = status
        self.cause = cause
    }

    /// The upstream's answer to a request with `token`.
    init(_ response: HTTPResponse, to token: AccessTokenSnapshot?, of identity: String?) {
        status = response.status
        guard let token, status < 500 else { return }
        refusal = TokenRefusal(response.fields.values(of: .wwwAuthenticate), to: token)
        self.identity = identity
    }

    /// The error of the challenge that refuses the token; nil if the answer is not about the token.
    var challenge: ChallengeError? { refusal.map { ChallengeError(code: $0.error) } }

    /// The failure as part of a sentence.
    var words: String {
        if let cause { return "\(status): \(cause)" }
        return "\(status) from the upstream\(refusal?.words ?? "")"
    }

    /// A log whose lines have the failure's fields.
    func described(in log: Log) -> Log {
        let log = log.with(.status, .integer(status))
        guard let refusal else { return log }
        return refusal.described(in: identity.map { log.with(.identity, .string($0)) } ?? log)
    }
}
