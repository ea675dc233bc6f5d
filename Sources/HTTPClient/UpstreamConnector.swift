// SPDX-License-Identifier: Apache-2.0

internal import CLibcurl
internal import EventLoop
internal import Glibc

/// Opens connections to one upstream with libcurl.
///
/// Confined to its loop's thread.
package final class UpstreamConnector {
    private let address: UpstreamAddress
    private let multis: CurlMultiSet
    private var sessions: CurlShare?

    /// - Parameter multis: of the loop that will own the connections.
    package init(address: UpstreamAddress, multis: CurlMultiSet) {
        self.address = address
        self.multis = multis
    }

    /// Resolves, connects, tunnels and encrypts as the address says; nothing of it blocks the loop.
    ///
    /// - Parameter timeout: of all of it; zero waits for ever.
    package func connect(within timeout: Duration) async throws(UpstreamError) -> UpstreamConnection {
        let transfer: CurlTransfer
        do {
            transfer = try self.transfer(within: timeout)
        } catch {
            throw .other(error)
        }
        switch await transfer.run() {
        case .cancelled: throw .cancelled
        case .done(CURLE_OK): break
        case .done(let code): throw UpstreamError(code, of: transfer.easy)
        }
        guard let descriptor = transfer.easy.activeSocket else { throw .connectionRefused }
        return try address.mayBeEncrypted
            ? encrypted(transfer, descriptor: descriptor) : plain(transfer, descriptor: descriptor)
    }

    private func transfer(within timeout: Duration) throws(CurlError) -> CurlTransfer {
        let easy = try CurlEasy()
        let lists = CurlLists()
        try easy.configure(url: address.url, transport: address.transport, lists: lists)
        try easy.set(CURLOPT_CONNECT_ONLY, to: true)
        try easy.set(CURLOPT_FRESH_CONNECT, to: true)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, to: timeout)
        var dependencies: [AnyObject] = []
        if let trust = address.transport.trust { dependencies.append(trust) }
        if address.mayBeEncrypted {
            let sessions = try sharedSessions()
            try sessions.join(easy)
            dependencies.append(sessions)
        }
        return CurlTransfer(easy, lists: lists, dependencies: dependencies, multi: try multis.multi())
    }

    private func sharedSessions() throws(CurlError) -> CurlShare {
        if let sessions { return sessions }
        let fresh = try CurlShare()
        sessions = fresh
        return fresh
    }

    /// A plain connection leaves libcurl: a duplicate of its socket is all that is kept.
    private func plain(
        _ transfer: CurlTransfer, descriptor: Int32
    ) throws(UpstreamError) -> UpstreamConnection {
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        transfer.end()
        guard own >= 0 else { throw .noDescriptors }
        return UpstreamConnection(wire: SocketWire(descriptor: own), descriptor: own, loop: multis.loop)
    }

    private func encrypted(
        _ transfer: CurlTransfer, descriptor: Int32
    ) throws(UpstreamError) -> UpstreamConnection {
        guard let wire = CurlWire(transfer) else { throw .tlsHandshake }
        return UpstreamConnection(wire: wire, descriptor: descriptor, loop: multis.loop)
    }
}
