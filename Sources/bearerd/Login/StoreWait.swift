// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import OAuth
import Synchronization

/// The wait of a command's login for a store that takes nothing, as on a full disk.
struct StoreWait {
    private let session: AuthSession
    private let loop: EventLoop
    private let signals = Signals()

    /// The signals that end the wait, once there is one: until then they end the command.
    private final class Signals: Sendable {
        private let sources = Mutex<[SignalSource]>([])
        private let hasCome = Mutex(false)

        /// - Parameters:
        ///   - first: called at the first signal.
        ///   - next: called at each that follows.
        func heed(
            _ loop: EventLoop, _ first: @escaping @Sendable () -> Void, _ next: @escaping @Sendable () -> Void
        ) {
            let action = { @Sendable [weak self] in
                guard let self else { return }
                let isFirst = hasCome.withLock { hasCome in
                    defer { hasCome = true }
                    return !hasCome
                }
                isFirst ? first() : next()
            }
            sources.withLock { sources in
                sources = [SIGINT, SIGTERM].compactMap { try? SignalSource($0, loop: loop, action: action) }
            }
        }
    }

    init(of session: AuthSession, loop: EventLoop) async {
        self.session = session
        self.loop = loop
        await session.watchStoreWait { [session, loop, signals] limit in
            signals.heed(loop) {
                Task(executorPreference: loop) { await session.endStoreWait() }
            } _: {
                Console.remark(
                    "\(session.identity): ended; what the login brought may be stored, or stay at the provider"
                )
                exit(ExitStatus.failure.rawValue)
            }
            Console.remark(
                "\(session.identity): the login is kept in memory and stored as soon as that works, in "
                    + "\(LoginWait.words(for: limit)) at most; Ctrl-C gives it up, and what it brought is revoked then "
                    + "where the store holds no session"
            )
        }
    }

    /// Ends the session; what could not be stored is revoked, because nobody has it any more.
    ///
    /// Not where the store holds a session of the same person: many providers (Google, Keycloak) would end that one with it.
    func end() async {
        guard await !session.stop() else { return }
        guard await !session.isSessionStored else {
            return Console.remark(
                "\(session.identity): what the login brought stays at the provider: to revoke it could end the session that "
                    + "the store holds, too")
        }
        let failure = await session.revokeUnstored()
        Console.remark(
            "\(session.identity): what the login brought "
                + (failure.map { "could not be revoked: \($0.sentence)" } ?? "is revoked"))
    }
}
