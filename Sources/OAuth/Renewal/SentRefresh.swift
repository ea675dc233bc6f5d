// SPDX-License-Identifier: Apache-2.0

/// A refresh token of the session that was sent, or is about to be, and what may still come of it.
///
/// Confined to its session.
final class SentRefresh {
    enum Event: Sendable {
        /// A request is over; `wasSent` says whether the provider may have seen it.
        case ended(TokenRequestResult, wasSent: Bool)
        /// So is the harmless question; nil where it was answered.
        case asked(TokenFailure?)
        /// It is time to look again.
        case time
    }

    /// Of the stored session that the token belongs to.
    var generation: Int
    var rule: UnansweredRefresh
    /// Where events go; finishing it supersedes the attempt.
    let sink: AsyncStream<Event>.Continuation
    private var events: AsyncStream<Event>.Iterator
    /// Whether people have heard that the provider hangs.
    var isTold = false
    /// Whether it makes room for a person in another process.
    var isClaimed = false
    var requests: [Task<Void, Never>] = []
    var question: Task<Void, Never>?
    /// What is told if nothing better comes, and whether the provider said it.
    private(set) var failure: (outcome: TokenRequestResult, isAnswer: Bool)?

    /// Those before it, which do not concern it.
    let supersessions: (all: Int, ending: Int)

    init(generation: Int, _ rule: UnansweredRefresh, since supersessions: (all: Int, ending: Int)) {
        self.generation = generation
        self.supersessions = supersessions
        self.rule = rule
        let (stream, sink) = AsyncStream.makeStream(of: Event.self)
        self.sink = sink
        events = stream.makeAsyncIterator()
    }

    /// - Returns: nil if it was superseded.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Event? {
        await events.next(isolation: isolation)
    }

    /// Nobody wants any of it.
    func cancel() {
        for task in requests { task.cancel() }
        question?.cancel()
    }

    /// Takes in a failure: what a provider says counts for more than that it said nothing, and a final word most.
    func note(_ outcome: TokenRequestResult, isAnswer: Bool) {
        if let failure, failure.outcome.isFinal || failure.isAnswer && !isAnswer { return }
        failure = (outcome, isAnswer)
    }

    /// What the provider has said that leaves nothing to hope for but another answer.
    var refusal: TokenFailure? {
        guard case .failure(let failure)? = failure?.outcome.result, failure.kind == .final else {
            return nil
        }
        return failure
    }
}

extension TokenRequestResult {
    fileprivate var isFinal: Bool {
        if case .failure(let failure) = result { failure.kind == .final } else { false }
    }
}
