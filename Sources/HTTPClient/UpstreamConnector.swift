// SPDX-License-Identifier: Apache-2.0

internal import CLibcurl
internal import EventLoop
internal import Glibc
internal import HTTPTypes
internal import TLS

/// Opens connections to one upstream: libcurl resolves, connects and tunnels; TLS is ours where no proxy is in between.
///
/// Confined to its loop's thread.
package final class UpstreamConnector {
    private let address: UpstreamAddress
    private let multis: CurlMultiSet
    private let lookups: LookupTurns
    /// For the connections that libcurl encrypts.
    private var sessions: CurlShare?
    /// For those that we encrypt.
    private lazy var security = UpstreamSecurity(address)

    /// - Parameter multis: of the loop that will own the connections.
    package init(address: UpstreamAddress, multis: CurlMultiSet) {
        self.address = address
        self.multis = multis
        lookups = LookupTurns(loop: multis.loop)
    }

    /// Resolves, connects, tunnels and encrypts as the address says; nothing of it blocks the loop.
    ///
    /// - Parameter timeout: of all of it; zero waits for ever.
    package func connect(within timeout: Duration) async throws(UpstreamError) -> UpstreamConnection {
        let start = ContinuousClock.now
        let transfer = try await connected(within: timeout, since: start)
        guard let descriptor = transfer.easy.activeSocket else { throw .connectionRefused }
        if address.isEncryptedByLibcurl { return try encrypted(transfer, descriptor: descriptor) }
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        transfer.end()  // a duplicate of its socket is all that is kept
        guard own >= 0 else { throw .noDescriptors }
        guard address.url.scheme == .https else {
            return UpstreamConnection(wire: SocketWire(descriptor: own), descriptor: own, loop: multis.loop)
        }
        let connection = try secured(own)
        try await agree(on: connection, within: timeout, since: start)
        return connection
    }

    /// What libcurl does of it, when it is this connection's turn to ask for the name.
    private func connected(
        within timeout: Duration, since start: ContinuousClock.Instant
    ) async throws(UpstreamError) -> CurlTransfer {
        let turn = try await lookups.turn(within: timeout)
        do throws(UpstreamError) {
            let remaining =
                timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
            let transfer = try await run(within: remaining)
            lookups.end(turn, because: nil)
            return transfer
        } catch {
            lookups.end(turn, because: error)
            throw error
        }
    }

    private func run(within timeout: Duration) async throws(UpstreamError) -> CurlTransfer {
        let transfer: CurlTransfer
        do {
            transfer = try self.transfer(within: timeout)
        } catch {
            throw .other(error)
        }
        switch await transfer.run() {
        case .cancelled: throw .cancelled
        case .done(CURLE_OK): return transfer
        case .done(let code): throw UpstreamError(code, of: transfer)
        }
    }

    private func transfer(within timeout: Duration) throws(CurlError) -> CurlTransfer {
        let easy = try CurlEasy()
        let attachments = CurlAttachments()
        let isEncrypted = address.isEncryptedByLibcurl
        let url = isEncrypted || address.url.scheme != .https ? address.url : address.url.withoutTLS
        try easy.configure(url: url, transport: address.transport, attachments: attachments)
        try easy.set(CURLOPT_CONNECT_ONLY, to: true)
        try easy.set(CURLOPT_FRESH_CONNECT, to: true)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, to: timeout)
        var dependencies: [AnyObject] = []
        if isEncrypted {
            if let trust = address.transport.trust { dependencies.append(trust) }
            let sessions = try sharedSessions()
            try sessions.join(easy)
            dependencies.append(sessions)
        }
        return CurlTransfer(
            easy, attachments: attachments, dependencies: dependencies, multi: try multis.multi())
    }

    private func sharedSessions() throws(CurlError) -> CurlShare {
        if let sessions { return sessions }
        let fresh = try CurlShare()
        sessions = fresh
        return fresh
    }

    // MARK: TLS

    private func secured(_ descriptor: Int32) throws(UpstreamError) -> UpstreamConnection {
        let wire: (any Wire)?
        do throws(UpstreamError) {
            wire = try security.context().wire(on: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        guard let wire else {
            close(descriptor)
            throw .tlsHandshake
        }
        return UpstreamConnection(wire: wire, descriptor: descriptor, loop: multis.loop)
    }

    private func agree(
        on connection: UpstreamConnection, within timeout: Duration, since start: ContinuousClock.Instant
    ) async throws(UpstreamError) {
        let remaining =
            timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
        do throws(StreamError) {
            try await connection.stream.handshake(within: remaining)
        } catch {
            connection.close()
            if Task.isCancelled { throw .cancelled }
            switch error {
            case .timedOut: throw .connectionTimeout
            case .certificate(let code): throw .tlsCertificate(CertificateFault(verifyResult: code))
            case .closed, .reset, .failed, .unencrypted, .transport: throw .tlsHandshake
            }
        }
    }

    private func encrypted(
        _ transfer: CurlTransfer, descriptor: Int32
    ) throws(UpstreamError) -> UpstreamConnection {
        guard let wire = CurlWire(transfer) else { throw .tlsHandshake }
        return UpstreamConnection(wire: wire, descriptor: descriptor, loop: multis.loop)
    }
}
