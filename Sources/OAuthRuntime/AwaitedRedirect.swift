// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPServer
import OAuth

/// A redirect that is awaited on its sockets, from before the URL is shown until the browser has its last page.
struct AwaitedRedirect {
    /// The time that the browser has to fetch its last page.
    private static let lastPageLimit = Duration.seconds(2)

    private let listener: RedirectListener
    private let service: HTTPService
    private let sockets: RedirectSockets

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - request: the request that the redirect answers.
    ///   - uri: the redirect URI; its port may be 0.
    ///   - onRefusal: hears why a redirect was refused.
    /// - Throws: a shortage if the kernel cannot watch the sockets.
    init(
        answering request: AuthorizationRequest, at uri: RedirectURI, on sockets: RedirectSockets,
        loop: EventLoop,
        onRefusal: @escaping @Sendable (AuthorizationResponseError) -> Void
    ) async throws(LoopbackLogin.Failure) {
        self.sockets = sockets
        listener = RedirectListener(request, at: uri, on: sockets, loop: loop, onRefusal: onRefusal)
        service = HTTPService(loop: loop, responder: listener)
        do throws(StreamError) {
            for socket in sockets.all { try await service.listen(on: socket) }
        } catch {
            await service.stop()
            sockets.close()
            throw .shortage("cannot listen for the redirect: \(error.reason)")
        }
    }

    /// Waits for the first answer; later ones do not count.
    func code(waitingAtMost limit: Duration) async throws(LoopbackLogin.Failure) -> AuthorizationCode {
        try await listener.answer(waitingAtMost: limit).get()
    }

    /// Shows the person the result, and stops listening.
    func end(showing page: LoginPage) async {
        await listener.show(page)
        await service.stop(waitingAtMost: Self.lastPageLimit)
        sockets.close()
    }
}
