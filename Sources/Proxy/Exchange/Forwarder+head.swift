// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting
internal import BearerdSystem

/// The head of the request as the upstream gets it, and the start of the content.
extension Forwarder {
    func beginUpload(
        of exchange: Exchange, _ length: BodyLength, on route: RouteState
    ) throws(ProxyError) {
        exchange.upload.begin(length, on: route.plan)
        if case .exact(let length) = length, length > exchange.routing.bodyLimit { throw .bodyTooLarge }
    }

    func rewriteHead(
        of exchange: Exchange, _ length: BodyLength, for route: RouteState
    ) throws(ProxyError) {
        exchange.form.length = hasEnded(length, of: exchange) ? .none : length
        try rewrite(&exchange.client.request, of: exchange, length, for: route)
        if exchange.routing.isAudited { noteCaller(of: exchange) }
    }

    /// True for content that is declared to be empty and has ended: the end of a stream of HTTP/2 goes with its head then, and does
    /// not wait for the upstream's window.
    private func hasEnded(_ length: BodyLength, of exchange: Exchange) -> Bool {
        guard case .exact(0) = length else { return false }
        let incoming = exchange.client.incoming
        return incoming.isFinished && !incoming.hasTrailers
    }

    /// The steps that need the head, which is lent to them together.
    private func rewrite(
        _ request: inout HTTPRequest, of exchange: Exchange, _ length: BodyLength, for route: RouteState
    ) throws(ProxyError) {
        if request.fields.has(.upgrade) {
            exchange.form.upgrade = upgrade(wantedBy: request, on: route.plan, length: length)
            // In HTTP/2 it is a tunnel that is asked for, and nothing else would do.
            if exchange.form.upgrade == nil, request.version == .http2 {
                throw .tunnelUnknown
            }
        }
        if request.fields.has(.te) {
            exchange.form.takesTrailers = request.fields.containsToken("trailers", in: .te)
        }
        identify(&request)
        if route.plan.hidesTarget { exchange.originalTarget.append(contentsOf: request.targetBytes) }
        try request.rewrite(
            for: route.plan, host: exchange.host, peer: exchange.client.peer, scheme: exchange.clientScheme)
        putToken(into: &request, of: exchange, for: route)
        exchange.isCall = request.fields.areOfGRPC
    }

    /// Records which program calls, while its process certainly still runs.
    private func noteCaller(of exchange: Exchange) {
        guard exchange.token != nil, case .unix(_, let process) = exchange.client.peer else { return }
        exchange.record.executable = PeerProcess.executable(of: process)
        exchange.record.command = PeerProcess.command(of: process)
    }

    /// The protocols to which the client wants to switch and the route lets it, as a value of `Upgrade`.
    private func upgrade(
        wantedBy request: HTTPRequest, on plan: PreparedRoute, length: BodyLength
    ) -> String? {
        guard request.version != .http10, length.isZero,
            request.fields.containsToken("upgrade", in: .connection)
        else { return nil }
        return plan.terms.passableProtocols(in: request.fields)
    }

    /// Gives the request an `X-Request-Id` unless it has one.
    @inline(__always)
    func identify(_ request: inout HTTPRequest) {
        if request.fields.has(.xRequestID) {
            guard request.fields.bytes(of: .xRequestID)?.isEmpty == true else { return }
            request.fields.remove(.xRequestID)
        }
        recorder.identify(&request.fields)
    }
}
