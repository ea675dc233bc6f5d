// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// The tunnel that follows a 101 response (RFC 9110 §7.8).
extension Forwarder {
    /// Moves bytes both ways until one side ends.
    func tunnel(_ exchange: Exchange, to upstream: some UpstreamExchange) async throws(ProxyError) {
        let client = exchange.client
        guard let upgrade = exchange.form.upgrade else { throw .upstreamProtocol }
        upstream.response.fields.removeHopByHop()
        upstream.response.fields.removeOwnSetCookies()
        upstream.response.fields.remove(.contentLength)  // RFC 9110 8.6
        upstream.response.fields.append(.upgrade, upgrade)
        // Where HTTP/2 says 200, it is an answer like others.
        if client.request.version == .http2, !upstream.response.fields.has(.date) {
            upstream.response.fields.append(worker.date.now)
        }
        client.begin(&upstream.response, length: .none)
        exchange.answer.hasBegun = true
        try await flushToClient(exchange)
        client.beginTunnel()
        upstream.beginTunnel()
        let upward = loop.startTask { await Self.pump(from: client, to: upstream) { _ in } }
        await Self.pump(from: upstream, to: client) { exchange.record.bytesOut &+= UInt64($0) }
        await upward.value
        if worker.isStopped { exchange.record.abortReason = .rejected(.draining) }
    }

    /// Moves bytes one way until the source ends, then ends the sink's direction too.
    private static func pump<Source: MessageExchange, Sink: MessageExchange>(
        from source: Source, to sink: Sink, count: (Int) -> Void
    ) async {
        do {
            while let piece = await nextPiece(of: source, for: sink) {
                try await sink.outgoing.send(pieceOf: source.incoming, within: .zero)
                try await sink.outgoing.flush(within: .zero)
                count(piece)
            }
            guard sink.isOpen else { return source.close() }
            // A sink that cannot be told would keep the tunnel open for a source that has gone.
            guard await !sink.endSending(within: .zero) else { return }
            await source.finish(within: .seconds(1))
        } catch {}
        source.close()
        sink.close()
    }

    /// Waits for bytes of a tunnel; if the source fails, aborts the sink, because an orderly end would be
    /// wrong.
    private static func nextPiece<Source: MessageExchange, Sink: MessageExchange>(
        of source: Source, for sink: Sink
    ) async -> Int? {
        do {
            return try await source.incoming.nextPiece(within: .zero)
        } catch .stream(.closed) {
            // Closed is what this side has done itself.
            return nil
        } catch {
            sink.abort()
            return nil
        }
    }
}
