// SPDX-License-Identifier: Apache-2.0

import Configuration
import EventLoop
import OAuth
import OAuthRuntime

/// A login in a browser (RFC 8252), from the URL to the stored session.
struct BrowserLogin {
    let identity: IdentityConfiguration
    let target: LoginTarget
    let loop: EventLoop
    let limit: Duration
    /// nil where a person, or a script, takes the URL elsewhere.
    let browser: Browser?
    let isExchanged: Bool

    /// - Returns: nil if the code is only kept.
    func run() async throws(CommandFailure) -> Login? {
        let uri = identity.redirectURI
        let sockets = try sockets(for: uri)
        let request: AuthorizationRequest
        do throws(TokenFailure) {
            request = try await target.session.authorizationRequest(redirectURI: uri.text(port: sockets.port))
        } catch {
            throw CommandFailure(error, of: identity.name)
        }
        let redirect: AwaitedRedirect
        do throws(RedirectSockets.Failure) {
            redirect = try await AwaitedRedirect(answering: request, at: uri, on: sockets, loop: loop) {
                error in
                Console.remark("a redirect was refused, the login goes on waiting: \(error.sentence)")
            }
        } catch {
            throw CommandFailure(.systemRefuses, error.reason)
        }
        try show(request.url)
        LoginWait.tell(limit)
        let result = await result(of: redirect.answer(waitingAtMost: limit))
        await redirect.end(showing: page(for: result))
        await target.session.stop()
        return try result.get()
    }

    private func sockets(for uri: RedirectURI) throws(CommandFailure) -> RedirectSockets {
        do throws(RedirectSockets.Failure) {
            return try RedirectSockets(for: uri, listen: identity.redirectListen)
        } catch {
            throw CommandFailure(.unavailable, error.reason)
        }
    }

    /// The URL goes to standard output where nothing opens it: a script may read it.
    private func show(_ url: String) throws(CommandFailure) {
        guard let browser else { return try Console.show("\(url)\n") }
        do {
            try browser.open(url)
            Console.remark("the browser shows the login; if it does not, visit")
            Console.remark(url)
        } catch {
            Console.remark("the browser cannot be started (\(error)); visit this page:")
            try Console.show("\(url)\n")
        }
    }

    private func result(of answer: AwaitedRedirect.Answer?) async -> Result<Login?, CommandFailure> {
        switch answer {
        case nil:
            return .failure(
                CommandFailure(.unavailable, "\(identity.name): nobody logged in in time; try again"))
        case .foreign(let reason)?:
            return .failure(
                CommandFailure(
                    .permission,
                    "\(identity.name): no login: the answer is not believed: \(reason); the session is as it was"
                ))
        case .response(.refused(let refusal))?:
            return .failure(CommandFailure(refusal, of: identity.name))
        case .response(.granted(let code))?:
            return isExchanged ? await target.logIn(with: code) : await target.keep(code)
        }
    }

    private func page(for result: Result<Login?, CommandFailure>) -> LoginPage {
        switch result {
        case .success(.some): .done
        case .success(.none): .noted
        case .failure: .failed
        }
    }
}
