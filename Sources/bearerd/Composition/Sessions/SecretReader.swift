// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdSystem
import OAuth
import OAuthRuntime

/// Reads secrets on threads that may block, and waits for none longer than there is time.
final class SecretReader: Sendable {
    private typealias Outcome = Result<Secret, CredentialError>

    private let readings: SharedReading<String, Outcome>
    private let loop: EventLoop

    /// - Parameter loop: tells the time.
    init(on executor: FileExecutor, loop: EventLoop) {
        readings = SharedReading(on: executor)
        self.loop = loop
    }

    /// The secret as it is now.
    ///
    /// - Parameter limit: how long it is waited for; zero for ever.
    /// - Throws: what ``SecretSource/read()`` does, and that nothing was read in time.
    func read(_ source: SecretSource, within limit: Duration) async throws(CredentialError) -> Secret {
        guard let path = source.path else { return try source.read() }
        let read: @Sendable () async -> Outcome = { [readings] in
            await readings.value(of: path) { () -> Outcome in
                do throws(CredentialError) {
                    return .success(try source.read())
                } catch {
                    return .failure(error)
                }
            }
        }
        guard let outcome = limit == .zero ? await read() : await loop.value(within: limit, of: read) else {
            throw CredentialError(reason: "\(path) could not be read within \(limit.inSeconds)")
        }
        return try outcome.get()
    }
}
