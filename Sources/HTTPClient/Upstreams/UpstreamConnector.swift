// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdTLS
internal import CBearerdLibcurl
internal import Glibc

/// Opens connections to one upstream; libcurl resolves and connects, and TLS is ours unless a proxy is in
/// between.
///
/// Confined to its loop's thread.
package final class UpstreamConnector {
    let address: UpstreamAddress
    let multis: CurlMultiSet
    let headLimits: HeadLimits
    /// The permits for lookups; nil if no name has to be resolved.
    private let lookups: LookupPermits?
    /// The state that libcurl's connections share, the round of lookups to which its addresses belong, and the version of our
    /// certificate to which its TLS sessions do.
    private var shared: (share: CurlShare, round: Int, certificate: Int)?
    /// Those who wait for room in the queue of who listens at a Unix socket, in order.
    private var waiting: [LoopWait] = []
    /// The TLS context of connections that we encrypt.
    private lazy var security = UpstreamSecurity(address, offering: address.httpProtocol.offer)

    /// - Parameters:
    ///   - multis: the multi handles of the loop that will own the connections.
    ///   - nameAge: the longest use of a name's addresses, at most a minute; zero means a minute.
    ///   - headLimits: the limits for the heads of responses.
    package init(
        address: UpstreamAddress, multis: CurlMultiSet, nameAge: Duration = .zero,
        headLimits: HeadLimits = HeadLimits()
    ) {
        self.address = address
        self.headLimits = headLimits
        self.multis = multis
        lookups = address.isNamed ? LookupPermits(loop: multis.loop, age: nameAge) : nil
    }

    /// Resolves, connects, tunnels and encrypts as the address requires, without blocking the loop.
    ///
    /// - Parameters:
    ///   - timeout: limits all of it; zero waits for ever.
    ///   - onTaken: called once the upstream has taken the connection and TLS begins.
    package func connect(
        within timeout: Duration, onTaken: @escaping () -> Void = {}
    ) async throws(UpstreamError) -> UpstreamConnection {
        // Taken before the certificate is: one that is replaced meanwhile may have been shown, and counts as the older one.
        let version = address.transport.ownCertificate?.version ?? 0
        let connection = try await open(within: timeout, onTaken: onTaken)
        connection.certificateVersion = version
        return connection
    }

    private func open(
        within timeout: Duration, onTaken: @escaping () -> Void
    ) async throws(UpstreamError) -> UpstreamConnection {
        let start = ContinuousClock.now
        let transfer = try await connected(within: timeout, since: start, onTaken: onTaken)
        guard let descriptor = transfer.easy.activeSocket else { throw .connectionRefused }
        if address.isEncryptedByLibcurl { return try encrypted(transfer, descriptor: descriptor) }
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        transfer.end()  // a duplicate of its socket is all that is kept
        guard own >= 0 else { throw .noDescriptors }
        guard address.url.scheme == .https else {
            return connection(over: SocketWire(descriptor: own), descriptor: own)
        }
        let connection = try secured(own)
        onTaken()
        try await agree(on: connection, within: timeout, since: start)
        return connection
    }

    /// Connects and reads the end of validity of the server's certificate.
    ///
    /// - Parameter timeout: as for ``connect(within:)``.
    /// - Returns: seconds since 1970; nil for a plain connection or one that libcurl encrypts.
    package func certificateEnd(within timeout: Duration) async throws(UpstreamError) -> Int64? {
        let connection = try await connect(within: timeout)
        defer { connection.close() }
        return connection.stream.peerCertificateEnd
    }

    private func connection(over wire: any Wire, descriptor: Int32) -> UpstreamConnection {
        UpstreamConnection(wire: wire, descriptor: descriptor, loop: multis.loop, limits: headLimits)
    }

    /// Runs libcurl's part of connecting, once a lookup is permitted.
    ///
    /// Addresses that were found earlier may belong to another host by now. If they fail, the name is
    /// resolved again and one more attempt made, which is safe because nothing was sent.
    private func connected(
        within timeout: Duration, since start: ContinuousClock.Instant, onTaken: @escaping () -> Void
    ) async throws(UpstreamError) -> CurlTransfer {
        guard let lookups else { return try await inTurn(within: timeout, since: start, onTaken: onTaken) }
        let permit = try await lookups.permit(within: timeout)
        let findings = lookups.findings
        do throws(UpstreamError) {
            return try await run(permit, within: Self.rest(of: timeout, since: start), onTaken: onTaken)
        } catch {
            guard permit == .knownAddresses, error.isOfAddress,
                lookups.findings != findings || !lookups.areKnown,
                timeout == .zero || start.duration(to: .now) < timeout
            else { throw error }
        }
        let second = try await lookups.permit(within: Self.rest(of: timeout, since: start))
        return try await run(second, within: Self.rest(of: timeout, since: start), onTaken: onTaken)
    }

    /// The pauses before other attempts where the queue of a Unix socket is full: the first, and the longest of those that grow.
    private static let (queuePause, longestQueuePause) = (
        Duration.milliseconds(5), Duration.milliseconds(320)
    )

    /// Connects, and waits for room in the queue of who listens, which at a Unix socket the kernel does not do.
    ///
    /// One tries for all who wait: a server that hangs is one whose queue is full.
    private func inTurn(
        within timeout: Duration, since start: ContinuousClock.Instant, onTaken: @escaping () -> Void
    ) async throws(UpstreamError) -> CurlTransfer {
        func attempt() async throws(UpstreamError) -> CurlTransfer? {
            do throws(UpstreamError) {
                return try await transfer(
                    within: Self.rest(of: timeout, since: start), with: nil, onTaken: onTaken)
            } catch {
                guard error == .fullQueue else { throw error }
                return nil
            }
        }
        if waiting.isEmpty, let transfer = try await attempt() { return transfer }
        let turn = LoopWait(loop: multis.loop)
        waiting.append(turn)
        defer {
            let isFirst = waiting.first === turn
            waiting.removeAll { $0 === turn }
            if isFirst { waiting.first?.wake() }
        }
        if waiting.count > 1 {
            try await turn.wait(
                within: Self.rest(of: timeout, since: start), orThrow: .connectionTimeout, on: multis.loop)
            if let transfer = try await attempt() { return transfer }
        }
        var pause = Self.queuePause
        while true {
            await multis.loop.pause(for: pause)
            pause = min(pause * 2, Self.longestQueuePause)
            if Task.isCancelled { throw .cancelled }
            guard timeout == .zero || start.duration(to: .now) < timeout else { throw .connectionTimeout }
            if let transfer = try await attempt() { return transfer }
        }
    }

    /// A connection attempt that was given up after this time counts against the address.
    private static let doubtfulAfter = Duration.seconds(1)

    private func run(
        _ permit: LookupPermits.Permit, within timeout: Duration, onTaken: @escaping () -> Void
    ) async throws(UpstreamError) -> CurlTransfer {
        let began = ContinuousClock.now
        do throws(UpstreamError) {
            let transfer = try await transfer(within: timeout, with: permit, onTaken: onTaken)
            lookups?.end(permit, because: nil)
            return transfer
        } catch {
            if error == .cancelled, let lookups, !lookups.areKnown {
                lookups.abandon(permit)
            } else {
                // Clients are seldom as patient as we: who leaves an address that is silent has reason to.
                if error == .cancelled, began.duration(to: .now) >= Self.doubtfulAfter { lookups?.doubt() }
                lookups?.end(permit, because: error)
            }
            throw error
        }
    }

    /// The rest of a time-out; zero means none.
    private static func rest(of timeout: Duration, since start: ContinuousClock.Instant) -> Duration {
        timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
    }

    /// - Parameter permit: nil if no name has to be resolved.
    private func transfer(
        within timeout: Duration, with permit: LookupPermits.Permit?, onTaken: @escaping () -> Void
    ) async throws(UpstreamError) -> CurlTransfer {
        var round = lookups?.round
        if case .lookup(let own)? = permit { round = own }
        let transfer: CurlTransfer
        do {
            transfer = try self.transfer(within: timeout, ofRound: round)
        } catch {
            throw .other(reason: error.reason)
        }
        if case .lookup(let round)? = permit, let lookups {
            transfer.attachments.onResolved = { lookups.found(in: round) }
        }
        transfer.attachments.onMeeting = onTaken
        switch await transfer.run() {
        case .cancelled, .expired: throw .cancelled
        case .done(CURLE_OK): return transfer
        case .done where transfer.attachments.hasNoCommonProtocol: throw .noCommonProtocol
        // connect(2) says EAGAIN, for which libcurl waits in vain, and finds no error then; nor does it where it got no socket.
        case .done(CURLE_COULDNT_CONNECT)
        where address.url.socketPath != nil && transfer.easy.number(CURLINFO_OS_ERRNO) == 0
            && transfer.attachments.socketError == 0:
            throw .fullQueue
        case .done(let code): throw UpstreamError(code, of: transfer)
        }
    }

    private func transfer(within timeout: Duration, ofRound round: Int?) throws(CurlError) -> CurlTransfer {
        let easy = try CurlEasy()
        let attachments = CurlAttachments()
        let isEncrypted = address.isEncryptedByLibcurl
        let url = isEncrypted || address.url.scheme != .https ? address.url : address.url.withoutTLS
        try easy.configure(url: url, transport: address.transport, attachments: attachments)
        if isEncrypted, address.httpProtocol != .http1 {
            try easy.offer(address.httpProtocol.offer, keptBy: attachments)
        }
        try easy.set(CURLOPT_CONNECT_ONLY, to: true)
        try easy.set(CURLOPT_FRESH_CONNECT, to: true)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, to: timeout)
        var dependencies: [AnyObject] = []
        if isEncrypted || round != nil {
            let share = try share(of: round ?? 0)
            try share.join(easy)
            dependencies.append(share)
        }
        return CurlTransfer(
            easy, attachments: attachments, dependencies: dependencies, multi: try multis.multi())
    }

    /// The shared state for a round of lookups; one for an older round is new and not kept.
    private func share(of round: Int) throws(CurlError) -> CurlShare {
        // A session that is resumed is that of the certificate it began with; libcurl's key to it ignores ours.
        let certificate = address.transport.ownCertificate?.version ?? 0
        if let shared, shared.round == round, shared.certificate == certificate { return shared.share }
        let fresh = try CurlShare()
        if shared.map({ $0.round <= round }) ?? true { shared = (fresh, round, certificate) }
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
        return connection(over: wire, descriptor: descriptor)
    }

    private func agree(
        on connection: UpstreamConnection, within timeout: Duration, since start: ContinuousClock.Instant
    ) async throws(UpstreamError) {
        do throws(StreamError) {
            try await handshake(on: connection, within: Self.rest(of: timeout, since: start)).get()
        } catch {
            connection.close()
            if Task.isCancelled { throw .cancelled }
            lookups?.doubt()
            switch error {
            case .timedOut: throw .greetingTimeout(of: .tls)
            case .certificate(let code): throw .tlsCertificate(CertificateFault(verifyResult: code))
            case .transport where error.hasNoCommonProtocol: throw .noCommonProtocol
            case .closed, .reset, .failed, .unencrypted, .flooded, .transport: throw .tlsHandshake
            }
        }
    }

    /// Performs the TLS handshake; cancelling the task ends it.
    ///
    /// - Parameter isolation: the caller's actor, which runs on the loop.
    private func handshake(
        on connection: UpstreamConnection, within limit: Duration,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Void, StreamError> {
        let reference = LoopReference(connection, loop: multis.loop)
        return await withTaskCancellationHandler {
            _ = isolation  // as in CurlTransfer.run
            do throws(StreamError) {
                return .success(try await connection.stream.handshake(within: limit))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            reference.post { $0.close() }
        }
    }

    private func encrypted(
        _ transfer: CurlTransfer, descriptor: Int32
    ) throws(UpstreamError) -> UpstreamConnection {
        let hasTLS = address.url.scheme == .https
        let wire = CurlWire(
            transfer, toServerWithTLS: hasTLS, speaksHTTP2: !hasTLS && address.httpProtocol == .http2)
        guard let wire else { throw .tlsHandshake }
        return connection(over: wire, descriptor: descriptor)
    }
}

extension UpstreamError {
    /// As many connections wait at a Unix socket as whoever listens there allows.
    fileprivate static let fullQueue = UpstreamError.other(reason: "its queue of connections is full")
}
