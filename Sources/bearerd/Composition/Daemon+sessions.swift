// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import BearerdObservability
import OAuth

/// A session that a process has in memory alone.
struct UnstoredSession {
    let identity: String
    let reason: String
    /// True for the end of a session, as by a logout.
    let isEnd: Bool
}

/// The end of sessions, with the process or with a configuration.
extension Daemon {
    /// The additional time for token requests of sessions that are no longer needed.
    private static let retirement = Duration.seconds(1)

    /// How long a reload waits until its new sessions have read the store; one that has not goes on by itself.
    private static let readingLimit = Duration.seconds(2)

    /// Waits for token requests in flight, whose response may hold the only working refresh token, and for
    /// unstored sessions.
    func endSessions(within limit: Duration) async -> Outcome {
        let count = TimedCount()
        // A token that a source gives is in no store, and the source gives it again.
        let sessions = sessions.sessionsOfServers + retired
        endingSessions = sessions
        let ends = sessions.map { session in
            Task(executorPreference: loop) {
                // A session that could not be stored stays in the list, and is named when the grace is over.
                guard await session.stop(savingFor: limit, evenIfRefused: true) else { return }
                await self.sessionEnded(session)
                count.finishedOne()
            }
        }
        let isDone = await count.wait(for: sessions.count, atMost: limit, on: loop)
        if !isDone {
            for end in ends { end.cancel() }
            tellOfLosses()
            let lost = Set(unstored.map(\.identity))
            let asking = endingSessions.map(\.identity).filter { !lost.contains($0) }
            if !asking.isEmpty {
                log.warning(
                    "a token request, or storing what it brought, was given up: the grace is over",
                    [.identity: .string(DrainNotices.names(asking))])
            }
        }
        return isDone ? .drained : .graceIsOver
    }

    private func sessionEnded(_ session: AuthSession) { endingSessions.removeAll { $0 === session } }

    /// The identities whose sessions are in memory only, with the reason.
    var unstored: [UnstoredSession] {
        var found: [UnstoredSession] = []
        for session in sessions.all + retired
        where !found.contains(where: { $0.identity == session.identity }) {
            guard let reason = session.assumeIsolated({ $0.unsavedReason }) else { continue }
            let isEnd = session.assumeIsolated { $0.isEndUnsaved }
            found.append(UnstoredSession(identity: session.identity, reason: reason, isEnd: isEnd))
        }
        return found
    }

    /// Logs the sessions that are lost because the store did not accept them.
    func tellOfLosses() {
        for session in unstored {
            let log = log.with(.identity, .string(session.identity)).with(.reason, .string(session.reason))
            guard !session.isEnd else {
                log.error(
                    "the end of a session is lost: it was in memory alone, and the next start goes on with what the store holds",
                    [.hint: "mend the store, and log out again"])
                continue
            }
            log.error(
                "a session is lost: it was in memory alone, and the store did not take it",
                [
                    .hint:
                        "mend the store, and begin the session anew as it was begun: by a login or an import"
                ])
        }
    }

    // MARK: Reload

    /// Ends the sessions that are no longer needed, and starts the new ones, all at once: what the reload takes away from
    /// clients must not stay because a store is silent.
    func replaceSessions(of old: ConfiguredSessions) async {
        // From here on the new sessions alone make the identity's state.
        let leaving = old.sessions(notIn: sessions)
        for session in leaving { session.leaveFamily() }
        for session in leaving { await session.serveWaitersOnly() }
        let count = TimedCount()
        let coming = sessions.sessions(notIn: old)
        for session in coming {
            Task(executorPreference: loop) {
                await session.start()
                count.finishedOne()
            }
        }
        _ = await count.wait(for: coming.count, atMost: Self.readingLimit, on: loop)
    }

    /// Ends the sessions of removed identities once no request can wait for them.
    func retire(_ old: ConfiguredSessions) {
        let unneeded = old.sessions(notIn: sessions)
        for group in old.groups where !sessions.groups.contains(where: { $0.name == group.name }) {
            manager.identity(group.name, isIn: nil)
        }
        guard !unneeded.isEmpty else { return }
        let limit = old.configuration.timeouts.tokenWait + Self.retirement
        for session in unneeded {
            Task(executorPreference: loop) {
                await self.loop.pause(for: limit)
                await session.retire()
                await self.forget(session)
            }
        }
    }

    private func forget(_ session: AuthSession) {
        retired.removeAll { $0 === session }
        log.debug("a session of an earlier configuration has ended", [.identity: .string(session.identity)])
    }
}
