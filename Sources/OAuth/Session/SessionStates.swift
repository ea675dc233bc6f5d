// SPDX-License-Identifier: Apache-2.0

/// The states of a session: the present one, then each that it changes to, without end before that of the session.
///
/// Whoever reads slowly sees the newest state and not those between. Unlike ``AuthSession/events`` it tells this session's own
/// state at once, also one that lasts only a moment.
public struct SessionStates: AsyncSequence, Sendable {
    /// One state.
    public typealias Element = SessionState
    /// Reading cannot fail.
    public typealias Failure = Never

    weak let session: AuthSession?

    /// Begins to listen.
    public func makeAsyncIterator() -> AsyncIterator {
        let changes = session?.stateListeners.stream(keeping: 1) ?? AsyncStream { $0.finish() }
        return AsyncIterator(session: session, changes: changes.makeAsyncIterator())
    }

    /// Reads the states of a session, which it does not keep alive.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private weak var session: AuthSession?
        private var changes: AsyncStream<SessionState>.Iterator
        private var told: SessionState?

        init(session: AuthSession?, changes: AsyncStream<SessionState>.Iterator) {
            self.session = session
            self.changes = changes
        }

        /// The next state; nil once the session has stopped, or the task is cancelled.
        public mutating func next() async -> SessionState? {
            await next(isolation: nil)
        }

        /// The next state, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionState? {
            if let session, told == nil {
                guard !Task.isCancelled, await !session.isStopped else { return nil }
                told = await session.presentState
                return told
            }
            while let state = await changes.next(isolation: actor) {
                guard state != told else { continue }
                told = state
                return state
            }
            return nil
        }
    }
}

extension AuthSession {
    /// The present state, then each that follows; ends when the session stops.
    public nonisolated var states: SessionStates { SessionStates(session: self) }
}
