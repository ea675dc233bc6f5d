// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdSystem
import OAuth
import OAuthRuntime
import Synchronization

/// Reads secrets on a thread that may block, and waits for none longer than there is time.
///
/// A file that does not answer, as on a network's file system whose server is away, is read once however many wait for it.
/// After ``patience`` another thread reads the other files.
final class SecretReader: Sendable {
    private typealias Outcome = Result<Secret, CredentialError>

    /// A file that is being read.
    private struct Reading {
        var waiters: [CheckedContinuation<Outcome, Never>] = []
        /// The end of the wait; nil while nobody waits.
        var alarm: Task<Void, Never>?
    }

    private static let patience: Duration = .seconds(1)

    private let thread: ThreadExecutor
    private let loop: EventLoop
    private let readings = Mutex<[String: Reading]>([:])

    /// - Parameters:
    ///   - thread: one for tasks alone, which this may relieve.
    ///   - loop: tells the time.
    init(on thread: ThreadExecutor, loop: EventLoop) {
        self.thread = thread
        self.loop = loop
    }

    /// The secret as it is now.
    ///
    /// - Parameter limit: how long it is waited for; zero for ever.
    /// - Throws: what ``SecretSource/read()`` does, and that nothing was read in time.
    func read(_ source: SecretSource, within limit: Duration) async throws(CredentialError) -> Secret {
        guard let path = source.path else { return try source.read() }
        return try await withCheckedContinuation { continuation in
            let isFirst = readings.withLock { readings in
                let isFirst = readings[path] == nil
                var reading = readings[path] ?? Reading()
                reading.waiters.append(continuation)
                if reading.alarm == nil { reading.alarm = alarm(for: path, after: limit) }
                readings[path] = reading
                return isFirst
            }
            guard isFirst else { return }
            Task(executorPreference: thread) { [self] in
                let outcome: Outcome
                do throws(CredentialError) {
                    outcome = .success(try source.read())
                } catch {
                    outcome = .failure(error)
                }
                end(readings.withLock { $0.removeValue(forKey: path) }, with: outcome)
            }
        }.get()
    }

    private func alarm(for path: String, after limit: Duration) -> Task<Void, Never> {
        Task(executorPreference: loop) { [self] in
            let clock = LoopClock(loop: loop)
            let begun = clock.now
            if limit == .zero || limit > Self.patience {
                guard (try? await clock.sleep(until: begun + Self.patience)) != nil else { return }
                thread.relieve()
                guard limit > .zero else { return }
            }
            guard (try? await clock.sleep(until: begun + limit)) != nil else { return }
            thread.relieve()
            let reading = readings.withLock { readings in
                // It goes on being read, for whoever comes next.
                guard readings[path] != nil else { return Reading?.none }
                defer { readings[path] = Reading() }
                return readings[path]
            }
            let error = CredentialError(reason: "\(path) could not be read within \(limit.inSeconds)")
            end(reading, with: .failure(error))
        }
    }

    private func end(_ reading: Reading?, with outcome: Outcome) {
        reading?.alarm?.cancel()
        for waiter in reading?.waiters ?? [] { waiter.resume(returning: outcome) }
    }
}
