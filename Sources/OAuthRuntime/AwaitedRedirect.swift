// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import HTTPServer
package import OAuth

/// A redirect that is awaited on its sockets, from before the URL is shown until the browser has its last page.
package struct AwaitedRedirect {
    /// What came back.
    package enum Answer: Sendable {
        case response(AuthorizationRequest.Response)
        /// Not of the server that was asked, as far as can be told; why, for a person. The login is over.
        case foreign(String)
    }

    /// How long the browser may take to fetch its last page.
    private static let farewell = Duration.seconds(2)

    private let listener: RedirectListener
    private let service: HTTPService

    /// Listens.
    ///
    /// - Parameters:
    ///   - request: what the redirect answers.
    ///   - uri: where it arrives, but for a free port.
    ///   - onRefusal: hears why a redirect was refused.
    /// - Throws: ``RedirectSockets/Failure`` when the kernel cannot watch the sockets.
    package init(
        answering request: AuthorizationRequest, at uri: RedirectURI, on sockets: RedirectSockets,
        loop: EventLoop,
        onRefusal: @escaping @Sendable (AuthorizationResponseError) -> Void = { _ in }
    ) async throws(RedirectSockets.Failure) {
        listener = RedirectListener(request, at: uri, port: sockets.port, loop: loop, onRefusal: onRefusal)
        service = HTTPService(loop: loop, responder: listener)
        do throws(StreamError) {
            for socket in sockets.all { try await service.listen(on: socket) }
        } catch {
            await service.stop()
            throw RedirectSockets.Failure(reason: "cannot listen for the redirect: \(error.reason)")
        }
    }

    /// Waits for the answer; from then on no other one counts.
    ///
    /// - Returns: nil if none came in time.
    package func answer(waitingAtMost limit: Duration) async -> Answer? {
        await listener.answer(waitingAtMost: limit)
    }

    /// Shows the person what became of it, and listens no more.
    package func end(showing page: LoginPage) async {
        await listener.show(page)
        await service.stop(waitingAtMost: Self.farewell)
    }
}
