// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
public import OAuth
import Synchronization

/// Logins in a browser of this machine.
extension AuthRuntime {
    /// Logs a person in with a browser and a redirect to loopback (RFC 8252), code and PKCE.
    ///
    /// - Parameters:
    ///   - session: gets the person's tokens.
    ///   - redirectURI: as registered; port 0 means any free port.
    ///   - scope: the scope to ask for; nil for the configured one.
    ///   - parameters: parameters of this login, which win over those of the configuration.
    ///   - limit: the time that the person has.
    ///   - open: shows the URL to the person, in a browser of this machine. It may be of the main actor, and it may go on while
    ///     the person logs in: its task is cancelled once the login is over.
    ///
    /// Cancelling the task ends the login and frees the port.
    ///
    /// - Returns: the login, which is stored already.
    /// - Throws: `LoginError`; the session from before goes on.
    @discardableResult
    public func logIn(
        _ session: AuthSession, redirectURI: String = "http://127.0.0.1:0/callback", scope: [String]? = nil,
        adding parameters: [NamedValue] = [],
        waitingAtMost limit: Duration = .seconds(300), open: @escaping @Sendable (String) async -> Void
    ) async throws(LoginError) -> Login {
        // Whoever listens for https would have to show a certificate.
        guard let uri = RedirectURI(redirectURI), uri.isLoopback, uri.scheme == .http
        else { throw .unusableRedirect("\(redirectURI) is no http URL of this machine") }
        let work = Task(executorPreference: loop) { () -> Result<Login, LoginError> in
            let opening = OpeningTask()
            defer { opening.end() }
            let login = LoopbackLogin(
                session: session, uri: uri, scope: scope, adding: parameters, limit: limit, loop: self.loop)
            do throws(LoginError) {
                return .success(
                    try await login.run(
                        failing: LoginError.init,
                        open: { url throws(LoginError) in
                            opening.begin(on: self.loop) { await open(url) }
                        },
                        finish: { code throws(LoginError) in
                            // A cancelled task must not lose the tokens of a redeemed code.
                            try await self.redeem(code, in: session).get()
                        },
                        page: { _ in .done }))
            } catch {
                return .failure(error)
            }
        }
        return try await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }.get()
    }

    private func redeem(
        _ code: AuthorizationCode, in session: AuthSession
    ) async -> Result<Login, LoginError> {
        await Task(executorPreference: loop) {
            do throws(LoginError) {
                return .success(try await session.logIn(with: code))
            } catch {
                return .failure(error)
            }
        }.value
    }
}

/// The task that shows a login's URL, for as long as the login lasts.
private final class OpeningTask: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func begin(on loop: EventLoop, _ open: @escaping @Sendable () async -> Void) {
        task.withLock { $0 = Task(executorPreference: loop) { await open() } }
    }

    func end() { task.withLock { $0?.cancel() } }
}
