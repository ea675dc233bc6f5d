// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import OAuth
import OAuthRuntime

/// Listens for redirects of logins that do not arrive at the admin listener, while a login is pending.
///
/// The responder of the configuration in force answers them. Identities may share an address.
actor RedirectListeners: LoopConfined, RedirectReceivers {
    private static let longestLogin = Duration.seconds(600)

    private struct Receiver {
        let service: HTTPService
        let sockets: RedirectSockets
        let timer: LoopTimer
        /// The identities with a pending login.
        var identities: Set<String> = []
    }

    nonisolated let loop: EventLoop
    private var identities: [String: IdentityConfiguration] = [:]
    private var adminPort: UInt16 = 0
    private var responder: AdminResponder?
    private var receivers: [ListenAddress: Receiver] = [:]
    /// Those that are being closed.
    private var closings: [ListenAddress: Task<Void, Never>] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Applies the identities of another configuration; redirects that it has no more, or elsewhere, are not awaited longer.
    ///
    /// - Parameter responder: the configuration's own, which the others are answered by from now on.
    func use(
        _ configuration: Configuration, admin address: ListenAddress, answering responder: AdminResponder
    ) async {
        identities = Dictionary(configuration.identities.map { ($0.name, $0) }) { first, _ in first }
        self.responder = responder
        if case .tcp(_, let port) = address { adminPort = port }
        for (address, receiver) in receivers {
            let left = receiver.identities.filter { self.address(for: $0) == address }
            receivers[address]?.identities = left
            if left.isEmpty {
                expire(address)
            } else {
                await receiver.service.use(responder.redirectResponder)
            }
        }
    }

    /// Where an identity's redirects arrive, if not at the admin listener.
    private func address(for name: String) -> ListenAddress? {
        guard let identity = identities[name], responder?.awaitsRedirects(of: name) ?? false else {
            return nil
        }
        let uri = identity.redirectURI
        let address = identity.redirectListen ?? .tcp(host: uri.host, port: uri.port)
        guard uri.port != 0, case .tcp(_, let port) = address, port != adminPort else { return nil }
        return address
    }

    func open(for name: String) async throws(LoginError) {
        guard let address = address(for: name), let identity = identities[name] else { return }
        // Its sockets have the address until then.
        await closings[address]?.value
        if let receiver = receivers[address] {
            receivers[address]?.identities.insert(name)
            receiver.timer.set(after: Self.longestLogin)
            if let responder { await receiver.service.use(responder.redirectResponder) }
            return
        }
        do throws(LoopbackLogin.Failure) {
            let sockets = try RedirectSockets(for: identity.redirectURI, listen: identity.redirectListen)
            try await listen(for: name, at: address, sockets)
        } catch {
            throw LoginError(error)
        }
    }

    private func listen(
        for name: String, at address: ListenAddress, _ sockets: RedirectSockets
    ) async throws(LoopbackLogin.Failure) {
        guard let responder else { return sockets.close() }
        let service = HTTPService(loop: loop, responder: responder.redirectResponder)
        let timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns it
            assumeIsolated { $0.expire(address) }
        }
        receivers[address] = Receiver(service: service, sockets: sockets, timer: timer, identities: [name])
        timer.set(after: Self.longestLogin)
        do throws(StreamError) {
            for socket in sockets.all { try await service.listen(on: socket) }
        } catch {
            await close(at: address)
            throw .shortage("cannot listen for the redirect: \(error.reason)")
        }
    }

    private func expire(_ address: ListenAddress) {
        receivers[address]?.identities = []
        Task(executorPreference: loop) { await self.closeUnused(at: address) }
    }

    /// A login may have begun since nobody waited there.
    private func closeUnused(at address: ListenAddress) async {
        if receivers[address]?.identities.isEmpty ?? false { await close(at: address) }
    }

    func close(for name: String, unless isAwaited: @Sendable () -> Bool) async {
        guard !isAwaited() else { return }
        for address in receivers.keys where receivers[address]?.identities.remove(name) != nil {
            if receivers[address]?.identities.isEmpty ?? false { await close(at: address) }
        }
    }

    private func close(at address: ListenAddress) async {
        guard let receiver = receivers.removeValue(forKey: address) else { return }
        receiver.timer.cancel()
        let closing = Task(executorPreference: loop) {
            [service = receiver.service, sockets = receiver.sockets] in
            await service.stop()
            sockets.close()
        }
        closings[address] = closing
        await closing.value
        if closings[address] == closing { closings[address] = nil }
    }
}
