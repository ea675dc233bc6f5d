// SPDX-License-Identifier: Apache-2.0

extension TokenFailure {
    /// What follows from an answer that did not arrive.
    init(_ error: TransportError) {
        switch error {
        case .unreachable(let reason):
            self.init(.transient, code: "unreachable", detail: "no connection to the provider: \(reason)")
        case .certificate(let reason):
            self.init(.misconfigured, code: "certificate", detail: "the provider's TLS is refused: \(reason)")
        case .timedOut:
            self.init(.transient, code: "timed_out", detail: "the provider did not answer in time")
        case .interrupted(let reason):
            self.init(.transient, code: "interrupted", detail: "the provider's answer broke off: \(reason)")
            isAnswerLost = true
        case .answerTooLarge:
            self.init(.transient, code: "answer_too_large", detail: "the provider's answer is too large")
        case .notHTTP(let reason):
            self.init(.transient, code: "not_http", detail: "the provider's answer is not HTTP: \(reason)")
        }
    }
}
