// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import OAuth
import OAuthRuntime

/// Listens for redirects of logins that do not arrive at the admin listener, while a login is pending.
actor RedirectListeners: LoopConfined, RedirectReceivers {
    private static let longestLogin = Duration.seconds(600)

    private struct Receiver {
        let service: HTTPService
        let sockets: RedirectSockets
        let timer: LoopTimer
    }

    nonisolated let loop: EventLoop
    private var identities: [String: IdentityConfiguration] = [:]
    private var adminPort: UInt16 = 0
    private var receivers: [String: Receiver] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Applies the identities of another configuration; redirects that it has no more, or elsewhere, are not awaited longer.
    ///
    /// - Parameter responder: the configuration's own, which the others are answered by from now on.
    func use(
        _ configuration: Configuration, admin address: ListenAddress, answering responder: AdminResponder
    ) async {
        let before = identities
        identities = Dictionary(configuration.identities.map { ($0.name, $0) }) { first, _ in first }
        if case .tcp(_, let port) = address { adminPort = port }
        for (name, receiver) in receivers {
            let (old, new) = (before[name], identities[name])
            if let responder = responder.redirectResponder(for: name), old?.redirectURI == new?.redirectURI,
                old?.redirectListen == new?.redirectListen
            {
                await receiver.service.use(responder)
            } else {
                expire(name)
            }
        }
    }

    func open(for name: String, answering responder: any HTTPResponder) async throws(LoginError) {
        guard let identity = identities[name], identity.redirectURI.port != 0 else { return }
        let uri = identity.redirectURI
        let address = identity.redirectListen ?? .tcp(host: uri.host, port: uri.port)
        // Redirects to the admin listener's own port are its own.
        guard case .tcp(_, let port) = address, port != adminPort else { return }
        if let receiver = receivers[name] {
            await receiver.service.use(responder)
            return receiver.timer.set(after: Self.longestLogin)
        }
        do throws(LoopbackLogin.Failure) {
            try await listen(
                for: name, at: RedirectSockets(for: uri, listen: identity.redirectListen), responder)
        } catch {
            throw LoginError(error)
        }
    }

    private func listen(
        for name: String, at sockets: RedirectSockets, _ responder: any HTTPResponder
    ) async throws(LoopbackLogin.Failure) {
        let service = HTTPService(loop: loop, responder: responder)
        let timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns it
            assumeIsolated { $0.expire(name) }
        }
        receivers[name] = Receiver(service: service, sockets: sockets, timer: timer)
        timer.set(after: Self.longestLogin)
        do throws(StreamError) {
            for socket in sockets.all { try await service.listen(on: socket) }
        } catch {
            await close(for: name)
            throw .shortage("cannot listen for the redirect: \(error.reason)")
        }
    }

    private func expire(_ name: String) {
        Task(executorPreference: loop) { await self.close(for: name) }
    }

    func close(for name: String) async {
        guard let receiver = receivers.removeValue(forKey: name) else { return }
        receiver.timer.cancel()
        await receiver.service.stop()
        receiver.sockets.close()
    }
}
