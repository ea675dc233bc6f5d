// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdLibcurl

/// Sends whole requests to authorization servers, each on a connection of its own.
///
/// They are rare. No connection, TLS session or address is kept, so that every response comes from a server
/// whose certificate was verified for this very request, at the current address of its name.
package actor TransferClient: LoopConfined {
    package nonisolated let loop: EventLoop
    /// Only transfers keep it: libcurl's tables for one take 40 KiB, and most clients have nothing to send.
    private weak var multi: CurlMulti?
    let peers = PeerLookup()

    package init(loop: EventLoop) {
        self.loop = loop
    }

    /// Sends a request and waits for the whole response; cancelling the task ends the transfer at once.
    ///
    /// - Parameters:
    ///   - transport: the way to the server and the certificates to accept.
    ///   - owners: the users one of whom must own the other end if it is on loopback or a Unix socket; nil
    ///     allows any user.
    package func send(
        _ request: TransferRequest, over transport: Transport, heldBy owners: Set<UInt32>? = nil
    ) async throws(TransferError) -> TransferResponse {
        let answer = TransferAnswer(maximumBodyBytes: request.maximumAnswerBytes)
        var connection: Int32?
        let isUnixSocket = request.url.scheme == .unix
        if let owners, !isUnixSocket {
            connection = try await self.connection(for: request, over: transport, heldBy: owners)
        }
        let transfer: CurlTransfer
        do {
            transfer = try self.transfer(request, over: transport, on: connection, into: answer)
            if isUnixSocket { transfer.attachments.owners = owners }
            transfer.attachments.maySend = request.maySend
            try transfer.easy.askBeforeSending(transfer.attachments)
        } catch {
            throw .other(error)
        }
        defer { transfer.end() }
        let limit = request.timeLimit > .zero ? limit(of: transfer, for: request) : nil
        defer { withExtendedLifetime(limit) {} }
        let failure: TransferError? =
            switch await transfer.run() {
            case .cancelled: .cancelled
            case .expired where transfer.isSent: .timedOut
            case .expired: .notConnected(UpstreamError(CURLE_OPERATION_TIMEDOUT, of: transfer))
            case .done(CURLE_OK): nil
            case .done(let code): TransferError(code, of: transfer)
            }
        if failure != nil, transfer.attachments.wasTooFar { throw .tooFar }
        if let stranger = transfer.attachments.stranger { throw .foreign(stranger) }
        if transfer.attachments.isWithheld { throw .withheld }
        if let failure, !request.keepsPartialAnswer || answer.body.isEmpty { throw failure }
        let status = transfer.easy.number(CURLINFO_RESPONSE_CODE)
        return TransferResponse(status: status, fields: answer.fields, body: answer.body, cutOff: failure)
    }

    /// Ends `transfer` after its time limit; a request that has been sent by then gets
    /// ``TransferRequest/sentTimeLimit``.
    private func limit(of transfer: CurlTransfer, for request: TransferRequest) -> TransferLimit {
        var more = request.sentTimeLimit.map { $0 - request.timeLimit } ?? .zero
        return TransferLimit(request.timeLimit, loop: loop) { [unowned transfer] in
            guard more > .zero, transfer.isSent else {
                transfer.expire()
                return nil
            }
            defer { more = .zero }
            return more
        }
    }

    /// - Parameter connection: a connected socket to use and close; nil lets libcurl open one.
    private func transfer(
        _ request: TransferRequest, over transport: Transport, on connection: Int32?,
        into answer: TransferAnswer
    ) throws(CurlError) -> CurlTransfer {
        let attachments = CurlAttachments()
        attachments.staysNearby = request.staysNearby
        attachments.connected = connection.map { .waiting($0) }
        let easy = try CurlEasy()
        if connection != nil { try easy.takeSocketsForConnected() }
        try easy.configure(request, over: transport, attachments: attachments)
        try easy.setMessage(request, attachments: attachments)
        try answer.collect(from: easy)
        return CurlTransfer(easy, attachments: attachments, dependencies: [answer], multi: try sharedMulti())
    }

    func sharedMulti() throws(CurlError) -> CurlMulti {
        if let multi { return multi }
        let fresh = try CurlMulti(loop: loop)
        multi = fresh
        return fresh
    }
}

extension CurlEasy {
    /// Turns off reuse, caches and libcurl's own time limits, which ``TransferLimit`` replaces.
    func configure(
        _ request: TransferRequest, over transport: Transport, attachments: CurlAttachments
    ) throws(CurlError) {
        var transport = transport
        if request.staysNearby { transport.proxy = .none }
        try configure(url: request.url, transport: transport, attachments: attachments)
        try set(CURLOPT_FRESH_CONNECT, to: true)
        try set(CURLOPT_FORBID_REUSE, to: true)
        try set(CURLOPT_SSL_SESSIONID_CACHE, to: false)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, to: 0)
        // libcurl looks at its own limits before it looks at a socket in which the answer may lie.
        try set(CURLOPT_TIMEOUT_MS, to: 0)
        try set(CURLOPT_CONNECTTIMEOUT_MS, to: Duration.zero)
    }

    fileprivate func setMessage(_ request: TransferRequest, attachments: CurlAttachments) throws(CurlError) {
        switch request.method {
        case .get where request.body.isEmpty:
            try set(CURLOPT_HTTPGET, to: true)
        case .head:
            try set(CURLOPT_NOBODY, to: true)
        default:
            try set(CURLOPT_CUSTOMREQUEST, to: request.method.rawValue)
            if request.method == .post || !request.body.isEmpty {
                try set(CURLOPT_POST, to: true)
                try setBody(request.body)
            }
        }
        try set(CURLOPT_HTTPHEADER, to: Self.lines(of: request), keptBy: attachments)
    }

    /// The fields in libcurl's form: `Name: value`, `Name;` for an empty value, `Name:` to omit libcurl's own
    /// field.
    private static func lines(of request: TransferRequest) -> [String] {
        var lines: [String] = []
        request.fields.forEach { name, value in lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // Without the field any coding would do (RFC 9110 §12.5.3). libcurl is not told: it would refuse the answers of servers
        // that take `Content-Encoding` for the place of a character set.
        if !request.fields.contains(.acceptEncoding) { lines.append("Accept-Encoding: identity") }
        if !request.fields.contains(.expect) { lines.append("\(HTTPFields.Name.expect):") }
        if !request.fields.contains(.contentType) { lines.append("\(HTTPFields.Name.contentType):") }
        return lines
    }
}
