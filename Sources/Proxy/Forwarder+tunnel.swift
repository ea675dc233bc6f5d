// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes

extension Forwarder {
    /// The protocols that the client wants to upgrade to and may, as they are passed on.
    func upgrade(wantedBy request: HTTPRequest, on route: RouteState, framing: BodyFraming) -> String? {
        guard request.version == .http11, framing == .none || framing == .length(0),
            request.fields.containsToken("upgrade", in: .connection)
        else { return nil }
        return route.route.passableProtocols(in: request.fields)
    }

    /// After a 101 bytes pass both ways until one side ends (RFC 9110 7.8).
    func tunnel(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard let upstream = exchange.upstream?.stream, let upgrade = exchange.upgrade else {
            throw .upstreamProtocol
        }
        let connection = exchange.connection
        exchange.response.fields.removeHopByHop()
        exchange.response.fields.remove(.contentLength)  // RFC 9110 8.6
        exchange.response.fields.append(.connection, "Upgrade")
        exchange.response.fields.append(.upgrade, upgrade)
        connection.output.removeAll(keepingCapacity: true)
        exchange.response.serialize(into: &connection.output)
        exchange.answerHasBegun = true
        exchange.upstreamPersists = false
        connection.endAfterAnswer()
        try await writeToClient(connection.output, exchange)
        let upward = startTask {
            await self.pump(from: connection.stream, to: upstream) { exchange.tunnelledIn &+= UInt64($0) }
        }
        await pump(from: upstream, to: connection.stream) { exchange.bytesOut &+= UInt64($0) }
        await upward.value
    }

    /// Moves bytes one way until their source ends, then ends the other's direction too.
    private func pump(from source: ByteStream, to sink: ByteStream, count: (Int) -> Void) async {
        do {
            while await hasBytes(source, for: sink) {
                let piece = source.input.count
                try await sink.write([], forwarding: 0..<piece, of: source, within: .zero)
                source.input.consume(piece)
                count(piece)
            }
            guard sink.isOpen else { return source.close() }
            if sink.canEndSending {
                return await sink.endSending(within: .zero)
            } else {
                // A sink that cannot be told would keep the tunnel open for a source that has gone.
                await source.finish(within: .seconds(1))
            }
        } catch {}
        source.close()
        sink.close()
    }

    /// Waits for bytes of a tunnel; a source that fails makes its sink fail too, for that is no end in good order.
    private func hasBytes(_ source: ByteStream, for sink: ByteStream) async -> Bool {
        guard source.input.isEmpty else { return true }
        do {
            if try await source.fill(within: .zero, capacity: StoragePool.large, isInside: true) {
                return true
            }
            if source.endWasTruncated { sink.abort() }
        } catch {
            // Closed is what this side has done itself.
            if error != .closed { sink.abort() }
        }
        return false
    }
}
