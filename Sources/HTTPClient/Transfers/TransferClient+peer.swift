// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdLibcurl
internal import Glibc

/// Connections whose peer is checked before anything is sent.
///
/// A stranger that listens on a port of this machine while its own program is away gets nothing.
extension TransferClient {
    /// How long the peer may take to accept the connection; until then no process owns its end.
    private static let longestAcceptance = Duration.seconds(5)
    private static let longestPause = Duration.milliseconds(50)

    /// Opens a connection without sending anything.
    ///
    /// - Returns: a descriptor, which the caller closes.
    func connection(
        for request: TransferRequest, over transport: Transport, heldBy owners: Set<UInt32>
    ) async throws(TransferError) -> Int32 {
        let limit =
            request.timeLimit > .zero
            ? min(request.timeLimit, Self.longestAcceptance) : Self.longestAcceptance
        let deadline = ContinuousClock.now + limit
        let descriptor = try await connection(for: request, over: transport, within: limit)
        let user = await holder(of: descriptor, until: deadline)
        guard user?.isAmong(owners) ?? true else {
            close(descriptor)
            throw .foreign(user ?? .nobody)
        }
        return descriptor
    }

    private func connection(
        for request: TransferRequest, over transport: Transport, within limit: Duration
    ) async throws(TransferError) -> Int32 {
        let transfer: CurlTransfer
        do {
            let easy = try CurlEasy()
            let attachments = CurlAttachments()
            try easy.configure(request, over: transport, attachments: attachments)
            try easy.set(CURLOPT_CONNECT_ONLY, to: true)
            // libcurl would close it before its descriptor can be had.
            try easy.set(CURLOPT_FORBID_REUSE, to: false)
            transfer = CurlTransfer(
                easy, attachments: attachments, dependencies: [], multi: try sharedMulti())
        } catch {
            throw .other(error)
        }
        defer { transfer.end() }
        let timer = TransferLimit(limit, loop: loop) { [unowned transfer] in
            transfer.expire()
            return nil
        }
        defer { withExtendedLifetime(timer) {} }
        switch await transfer.run() {
        case .cancelled: throw .cancelled
        case .expired: throw .notConnected(.connectionTimeout)
        case .done(CURLE_OK): break
        case .done(let code): throw TransferError(code, of: transfer)
        }
        // libcurl closes its own with the transfer.
        guard let own = transfer.easy.activeSocket, case let descriptor = fcntl(own, F_DUPFD_CLOEXEC, 0),
            descriptor >= 0
        else { throw .notConnected(.noDescriptors) }
        return descriptor
    }

    /// The user who owns the other end; nil if that is on another machine.
    private func holder(of descriptor: Int32, until deadline: ContinuousClock.Instant) async -> PeerUser? {
        guard let ends = ConnectionEnds(of: descriptor) else { return .nobody }
        guard ends.isLoopback else { return nil }
        var pause = Duration.milliseconds(1)
        while true {
            let user = await peers.user(at: ends)
            guard ConnectionEnds.areConnected(descriptor) else { return .nobody }
            guard user == .nobody, .now < deadline else { return user }
            await loop.pause(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
