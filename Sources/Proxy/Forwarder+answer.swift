// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes

extension Forwarder {
    /// Pieces of a chunked answer up to this size are gathered, those that have arrived, into one send.
    private static let gatherLimit = 16 * 1024
    /// A body up to this size is copied behind the head, if it has arrived.
    private static let joinLimit = 4 * 1024
    private static let lineEnd = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]

    /// Sends the upstream's answer on, every byte as soon as it arrives.
    @inline(__always)
    func deliver(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        exchange.status = exchange.response.status
        if exchange.status == 101 { return try await tunnel(exchange, on: route) }
        let delivery = prepareHead(of: exchange, for: route)
        let connection = exchange.connection
        if !connection.output.isEmpty { connection.output.removeAll(keepingCapacity: true) }
        exchange.response.serialize(into: &connection.output)
        exchange.answerHasBegun = true
        let sentBefore = connection.stream.bytesSent
        do throws(ProxyError) {
            if delivery.isChunked {
                try await sendInChunks(exchange, within: route.route.timeouts.streamIdle)
            } else if try !sendWhole(exchange) {
                try await sendAsIs(exchange, within: route.route.timeouts.streamIdle)
            }
        } catch {
            exchange.answerHasBegun = connection.stream.bytesSent > sentBefore
            guard exchange.answerHasBegun else { throw error }
            // Only a reset tells a reader of a close-delimited body that it is not whole (RFC 9112 8).
            if exchange.responseFraming != .none, connection.request.version == .http10 {
                connection.stream.abort()
            }
            throw error
        }
    }

    private func prepareHead(of exchange: Exchange, for route: RouteState) -> HTTPResponse.Delivery {
        let connection = exchange.connection
        let version = connection.request.version
        let hasLength = exchange.responseFraming != .chunked && exchange.responseFraming != .untilClose
        // Who refuses a body that is still on its way will hardly read it to its end.
        let cutsUpload = exchange.status >= 300 && !exchange.upload.isFinished
        if isDraining || cutsUpload || (!hasLength && version == .http10) {
            connection.endAfterAnswer()
        }
        var delivery = HTTPResponse.Delivery(
            isChunked: !hasLength && version == .http11, persists: connection.persists, version: version)
        if exchange.response.fields.has(.location) {
            delivery.clientOrigin = exchange.clientOrigin
            delivery.toldOrigin = exchange.toldOrigin(on: route.route)
        }
        exchange.response.rewrite(for: route, delivery: delivery)
        allowOrigin(of: connection, in: &exchange.response.fields)
        return delivery
    }

    /// Lets the page that asked read the answer, if its origin is one of `access.origins`.
    func allowOrigin(of connection: ServerConnection, in fields: inout HTTPFields) {
        guard !configuration.access.origins.isEmpty else { return }
        CrossOrigin.vary(&fields)
        guard configuration.access.admitsOrigin(of: connection.request.fields) else { return }
        CrossOrigin.allow(connection.request.fields[.origin], in: &fields)
    }

    /// Sends an answer that is small and has arrived whole, as much as the client takes at once.
    ///
    /// Two small parts in one buffer cost less than a gathering send.
    ///
    /// - Returns: whether that was all; what is left of it is in the connection's output.
    private func sendWhole(_ exchange: Exchange) throws(ProxyError) -> Bool {
        guard let upstream = exchange.upstream?.stream else { throw .upstreamProtocol }
        let connection = exchange.connection
        if case .length(let length) = exchange.responseFraming {
            guard length <= UInt64(min(upstream.input.count, Self.joinLimit)) else { return false }
            if let body = try buffered(exchange.responseBody) {
                upstream.input.copy(body, into: &connection.output)
                upstream.input.consume(body.upperBound)
                exchange.bytesOut = length
            }
        }
        guard exchange.responseBody.isFinished else { return false }
        announceEnd(of: exchange)
        do {
            let sent = try connection.stream.send(connection.output)
            guard sent < connection.output.count else {
                connection.output.removeAll(keepingCapacity: true)
                return true
            }
            connection.output.removeFirst(sent)
            return false
        } catch {
            connection.endAfterAnswer()
            throw .clientGone
        }
    }

    /// A body with a length, or one that ends with the connection: bytes as they come.
    private func sendAsIs(_ exchange: Exchange, within timeout: Duration) async throws(ProxyError) {
        guard let upstream = exchange.upstream?.stream else { throw .upstreamProtocol }
        let connection = exchange.connection
        let body = exchange.responseBody
        var headIsPending = true
        while true {
            var piece = try buffered(body)
            if piece == nil, !body.isFinished {
                if headIsPending { try await flushOutput(exchange) }
                headIsPending = false
                piece = try await next(of: body, within: timeout)
            }
            guard let piece else { break }
            if body.isFinished { announceEnd(of: exchange) }
            do {
                try await connection.stream.write(
                    connection.output, forwarding: piece, of: upstream, within: timeout)
            } catch {
                throw .clientGone
            }
            if headIsPending { connection.output.removeAll(keepingCapacity: true) }
            headIsPending = false
            exchange.bytesOut &+= UInt64(piece.count)
            upstream.input.consume(piece.upperBound)
        }
        guard headIsPending else { return }
        announceEnd(of: exchange)
        try await flushOutput(exchange)
    }

    /// A body of unknown length: chunks of our own, small ones that have arrived together in one send.
    private func sendInChunks(_ exchange: Exchange, within timeout: Duration) async throws(ProxyError) {
        guard let upstream = exchange.upstream?.stream else { throw .upstreamProtocol }
        let connection = exchange.connection
        let body = exchange.responseBody
        while !body.isFinished {
            if upstream.turnIsOver { await upstream.yield() }
            var piece = try buffered(body)
            if piece == nil, !body.isFinished {
                if !connection.output.isEmpty { try await flushOutput(exchange) }
                piece = try await next(of: body, within: timeout)
            }
            guard let piece else { break }
            ChunkedEncoder.head(of: piece.count, into: &connection.output)
            if connection.output.count + piece.count <= Self.gatherLimit {
                upstream.input.copy(piece, into: &connection.output)
                ChunkedEncoder.dataEnd(into: &connection.output)
            } else {
                do {
                    try await connection.stream.write(
                        connection.output, forwarding: piece, of: upstream, tail: Self.lineEnd,
                        within: timeout)
                } catch {
                    throw .clientGone
                }
                connection.output.removeAll(keepingCapacity: true)
            }
            exchange.bytesOut &+= UInt64(piece.count)
            upstream.input.consume(piece.upperBound)
        }
        let unwanted = exchange.route?.unwantedResponseTrailers ?? []
        ChunkedEncoder.end(trailers: body.trailers.without(unwanted), into: &connection.output)
        announceEnd(of: exchange)
        try await flushOutput(exchange)
    }

    /// What is sent next is the last of the answer, and of the connection where it does not persist.
    ///
    /// While the request still comes the end does not follow at once.
    func announceEnd(of exchange: Exchange) {
        guard !exchange.connection.persists, !exchange.upload.isRunning else { return }
        exchange.connection.stream.endFollows()
    }

    private func buffered(_ body: MessageBody) throws(ProxyError) -> Range<Int>? {
        do {
            return try body.nextBuffered()
        } catch {
            throw .upstreamProtocol
        }
    }

    private func next(of body: MessageBody, within timeout: Duration) async throws(ProxyError) -> Range<Int>?
    {
        do {
            return try await body.next(within: timeout)
        } catch .stream(.timedOut) {
            throw .upstreamTimedOut
        } catch {
            throw .upstreamProtocol
        }
    }

    private func flushOutput(_ exchange: Exchange) async throws(ProxyError) {
        try await writeToClient(exchange.connection.output, exchange)
        exchange.connection.output.removeAll(keepingCapacity: true)
    }

    /// Sends bytes of our own making to the client.
    func writeToClient(_ bytes: [UInt8], _ exchange: Exchange) async throws(ProxyError) {
        do {
            try await exchange.connection.stream.write(bytes, within: configuration.serverTimeouts.streamIdle)
        } catch {
            exchange.connection.endAfterAnswer()
            throw .clientGone
        }
    }
}
