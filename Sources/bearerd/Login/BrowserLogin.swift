// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdEventLoop
import OAuth
import OAuthRuntime

/// A login in a browser, with its messages on the console.
struct BrowserLogin {
    let identity: IdentityConfiguration
    let target: LoginTarget
    let loop: EventLoop
    let limit: Duration
    /// nil if a person or script opens the URL.
    let browser: Browser?
    let isExchanged: Bool
    /// The advice where a running daemon has the redirect's port; nil where it has not.
    let adviceOnDaemon: @Sendable () -> String?

    /// - Returns: nil if the code is only stored.
    func run() async throws(CommandFailure) -> Login? {
        let login = LoopbackLogin(
            session: target.session, uri: identity.redirectURI, listen: identity.redirectListen,
            limit: limit, loop: loop)
        let result: Result<Login?, CommandFailure>
        do throws(CommandFailure) {
            result = .success(
                try await login.run(
                    onRefusal: { error in
                        Console.remark(
                            "a redirect was refused, the login goes on waiting: \(error.clause)")
                    },
                    failing: { CommandFailure($0, of: identity.name, advice: adviceOnDaemon) },
                    open: { url throws(CommandFailure) in
                        try show(url)
                        LoginWait.tell(limit)
                    },
                    reopen: { [usesBrowser = browser != nil] url in
                        Console.remark("the provider has forgotten that page; a login goes on here")
                        if usesBrowser { Console.remark(url) } else { try? Console.show("\(url)\n") }
                    }, finish: finish,
                    page: { $0 == nil ? .noted : .done }))
        } catch {
            result = .failure(error)
        }
        await target.end()
        return try result.get()
    }

    private func finish(_ code: AuthorizationCode) async throws(CommandFailure) -> Login? {
        try await isExchanged ? target.logIn(with: code).get() : target.keep(code).get()
    }

    /// Shows the URL in the browser, or prints it to standard output, where a script can read it.
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
}
