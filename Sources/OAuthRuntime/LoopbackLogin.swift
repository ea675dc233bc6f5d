// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages
package import OAuth

/// A login whose redirect is awaited on a socket of this machine (RFC 8252 §7.3), from the URL to the browser's last
/// page.
package struct LoopbackLogin: Sendable {
    /// The reason why there is no code.
    package enum Failure: Error, Equatable, Sendable {
        /// No redirect can be awaited at this address.
        case address(String)
        /// The system cannot watch another socket.
        case shortage(String)
        /// The authorization server cannot be asked.
        case request(TokenFailure)
        /// Nobody logged in in time.
        case expired
        /// The task that waited was cancelled.
        case cancelled
        /// The answer is not from the server that was asked, as far as can be told (RFC 9207); the reason is for a
        /// person.
        case foreign(String)
        /// The person or the server refused.
        case refused(AuthorizationRefusal)
    }

    private let session: AuthSession
    private let uri: RedirectURI
    private let address: ListenAddress?
    private let scope: [String]?
    private let parameters: [NamedValue]
    private let limit: Duration
    private let loop: EventLoop

    /// - Parameters:
    ///   - session: gets the person's tokens.
    ///   - uri: the redirect URI; port 0 means any free port.
    ///   - address: the address to bind if it differs from `uri`, as behind a proxy.
    ///   - scope: the scope to ask for; nil for the configured one.
    ///   - parameters: additional parameters of this login.
    ///   - limit: the time that the person has.
    ///   - loop: runs the listener.
    package init(
        session: AuthSession, uri: RedirectURI, listen address: ListenAddress? = nil, scope: [String]? = nil,
        adding parameters: [NamedValue] = [], limit: Duration, loop: EventLoop
    ) {
        self.session = session
        self.uri = uri
        self.address = address
        self.scope = scope
        self.parameters = parameters
        self.limit = limit
        self.loop = loop
    }

    /// Runs the login.
    ///
    /// - Parameters:
    ///   - onRefusal: hears why a redirect was refused; the login goes on.
    ///   - failing: turns a failure into the caller's error.
    ///   - open: shows the URL to the person; the listener runs already.
    ///   - reopen: shows a new URL of the same login, after the provider has forgotten the first (RFC 9126 §2.2).
    ///   - finish: redeems or keeps the code.
    ///   - page: the page that the browser shows at the end.
    package func run<Outcome, Problem: Error>(
        onRefusal: @escaping @Sendable (AuthorizationResponseError) -> Void = { _ in },
        failing: (Failure) -> Problem, open: (String) throws(Problem) -> Void,
        reopen: @escaping @Sendable (String) -> Void = { _ in },
        finish: (AuthorizationCode) async throws(Problem) -> Outcome, page: (Outcome) -> LoginPage
    ) async throws(Problem) -> Outcome {
        let (request, redirect): (AuthorizationRequest, AwaitedRedirect)
        do throws(Failure) {
            (request, redirect) = try await begin(onRefusal)
        } catch {
            throw failing(error)
        }
        do throws(Problem) {
            try open(request.url)
            let renewal = Task(executorPreference: loop) { await renew(request, showing: reopen) }
            defer { renewal.cancel() }
            let outcome = try await finish(code(from: redirect, failing))
            await redirect.end(showing: page(outcome))
            return outcome
        } catch {
            await redirect.end(showing: .failed)
            throw error
        }
    }

    private func begin(
        _ onRefusal: @escaping @Sendable (AuthorizationResponseError) -> Void
    ) async throws(Failure) -> (AuthorizationRequest, AwaitedRedirect) {
        let sockets = try RedirectSockets(for: uri, listen: address)
        let request: AuthorizationRequest
        do throws(TokenFailure) {
            request = try await session.authorizationRequest(
                redirectURI: uri.text(port: sockets.port), scope: scope, adding: parameters)
        } catch {
            sockets.close()
            throw .request(error)
        }
        let redirect = try await AwaitedRedirect(
            answering: request, at: uri, on: sockets, loop: loop, onRefusal: onRefusal)
        return (request, redirect)
    }

    /// Pushes a pushed request again each time it expires, until the task is cancelled.
    private func renew(_ request: AuthorizationRequest, showing show: @Sendable (String) -> Void) async {
        let clock = LoopClock(loop: loop)
        var present = request
        while let expiry = present.expiry, (try? await clock.sleep(until: expiry)) != nil {
            // If that fails, the person may still finish the request in the browser.
            guard let next = try? await session.renewed(present), !Task.isCancelled else { return }
            show(next.url)
            present = next
        }
    }

    private func code<Problem: Error>(
        from redirect: AwaitedRedirect, _ failing: (Failure) -> Problem
    ) async throws(Problem) -> AuthorizationCode {
        do throws(Failure) {
            return try await redirect.code(waitingAtMost: limit)
        } catch {
            throw failing(error)
        }
    }
}
