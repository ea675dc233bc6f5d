// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPMessages
package import OAuth

/// A login whose end is awaited on a socket of this machine (RFC 8252 §7.3), from the URL to the browser's last page.
package struct LoopbackLogin: Sendable {
    /// Why there is no code.
    package enum Failure: Error, Equatable, Sendable {
        /// No redirect can be awaited at this address.
        case address(String)
        /// The system cannot watch another socket.
        case shortage(String)
        /// Nobody can be asked.
        case request(TokenFailure)
        /// Nobody logged in in time.
        case expired
        /// The task that waited was cancelled.
        case cancelled
        /// The answer is not of the server that was asked, as far as can be told (RFC 9207); why, for a person.
        case foreign(String)
        /// The person, or the server, said no.
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
    ///   - session: whose server is asked.
    ///   - uri: where the redirect arrives; with port 0 any free port is used.
    ///   - address: what to bind where that is not what `uri` says, as behind a proxy.
    ///   - scope: what this login asks for in place of the configured scope; nil for that.
    ///   - parameters: what this login says beside what all say.
    ///   - limit: how long the person may take.
    ///   - loop: where the redirect is awaited.
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

    /// Runs it.
    ///
    /// - Parameters:
    ///   - onRefusal: hears why a redirect was refused; the login goes on waiting.
    ///   - failing: makes the caller's error of a failure.
    ///   - open: shows the URL to the person; the redirect is awaited already.
    ///   - reopen: shows another URL of the same login, because the provider has forgotten the first (RFC 9126 §2.2).
    ///   - finish: exchanges or keeps the code.
    ///   - page: what the browser shows after that.
    /// - Returns: what `finish` made of the code.
    /// - Throws: what `failing` makes of a failure, and what `open` and `finish` throw.
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

    /// Has a pushed request pushed anew each time that the provider forgets it, until the task is cancelled.
    private func renew(_ request: AuthorizationRequest, showing show: @Sendable (String) -> Void) async {
        let clock = LoopClock(loop: loop)
        var present = request
        while let expiry = present.expiry, (try? await clock.sleep(until: expiry)) != nil {
            // Where that fails the person may still finish what the browser has begun.
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
