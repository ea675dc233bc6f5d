// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
import BearerdHTTP2
import BearerdHTTP2Streams
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer

/// The gRPC health checks of the sample API (`grpc.health.v1.Health`), for callers with a token that the API takes.
package final class HealthService: OtherProtocol {
    /// The methods by their path.
    private enum Method: String {
        case check = "/grpc.health.v1.Health/Check"
        /// Tells the status, and would tell each change of it, until the caller leaves.
        case watch = "/grpc.health.v1.Health/Watch"
    }

    /// The services whose health is known; the empty name stands for all of them.
    private static let services: Set<String> = ["", "grpc.health.v1.Health"]
    private static let notFound = 5
    /// The most bytes of a request.
    private static let longestRequest: UInt64 = 64 << 10
    /// How long a caller may take to send its request, or to take an answer.
    private static let sendTimeout = Duration.seconds(10)
    /// A connection without a call ends after this time, or twice as much.
    private static let idle = Duration.seconds(60)

    private let api: SampleAPI

    package init(_ api: SampleAPI) { self.api = api }

    package func begins(on stream: ByteStream) -> Bool { stream.beginsHTTP2 }

    package func serve(_ stream: ByteStream, from peer: PeerAddress, on loop: EventLoop) async {
        guard let session = HTTP2Session(.server, limits: HTTP2Limits()) else { return stream.close() }
        let connection = HTTP2Connection(stream, session, on: loop, patience: Self.sendTimeout)
        // Both outlive the connection's run.
        connection.onStream = { [unowned self, unowned connection] new in
            let call = ServerStream(new, on: connection, from: peer)
            _ = loop.startTask { await self.answer(call, on: loop) }
        }
        _ = loop.startTask { await Self.endIdle(connection, on: loop) }
        await connection.run(lingering: .seconds(2))
    }

    private static func endIdle(_ connection: HTTP2Connection, on loop: EventLoop) async {
        while connection.isOpen {
            await loop.pause(for: idle)
            guard connection.isOpen, connection.session.streamCount == 0 else { continue }
            connection.session.shutDown()
            return connection.scheduleSend()
        }
    }

    private func answer(_ call: ServerStream, on loop: EventLoop) async {
        defer { call.conclude() }
        do {
            guard call.refusal == nil, call.request.fields.areOfGRPC else {
                return try await send(HTTPResponse(status: call.refusal == nil ? 415 : 400), on: call)
            }
            let request = ServiceRequest(head: call.request, peer: call.peer)
            do throws(BearerRefusal) {
                _ = try await api.claims(of: request)
            } catch {
                return try await fail(call, GRPCStatus.unauthenticated, "the token is missing or not taken")
            }
            guard let method = Method(rawValue: request.path) else {
                return try await fail(
                    call, GRPCStatus.unimplemented, "only the methods of health checks are here")
            }
            guard let service = HealthMessage.service(in: try await body(of: call)) else {
                return try await fail(call, GRPCStatus.internalError, "this is no HealthCheckRequest")
            }
            let isKnown = Self.services.contains(service)
            switch method {
            case .check where !isKnown: try await fail(call, Self.notFound, "there is no such service")
            case .check:
                begin(.serving, on: call)
                var trailers = HTTPFields()
                trailers[.grpcStatus] = "0"
                call.outgoing.end(trailers: trailers)
                try await call.outgoing.flush(within: Self.sendTimeout)
            case .watch:
                begin(isKnown ? .serving : .serviceUnknown, on: call)
                try await call.outgoing.flush(within: Self.sendTimeout)
                await awaitDeparture(of: call, on: loop)
            }
        } catch {
            call.cut()
        }
    }

    private func body(of call: ServerStream) async throws -> [UInt8] {
        _ = try call.beginBody(limit: Self.longestRequest)
        var bytes: [UInt8] = []
        while try await call.incoming.nextPiece(within: Self.sendTimeout) != nil {
            _ = call.incoming.withPiece { bytes.append($0) }
            call.incoming.consumePiece()
        }
        return bytes
    }

    /// Begins a response, with its first message.
    private func begin(_ status: HealthMessage.Status, on call: ServerStream) {
        var head = HTTPResponse(status: 200)
        head.fields[.contentType] = "application/grpc"
        call.begin(&head, length: .open)
        call.outgoing.append(HealthMessage.response(status))
    }

    /// Answers with a status in a head that is all of the answer.
    private func fail(_ call: ServerStream, _ status: Int, _ message: String) async throws {
        var head = HTTPResponse(status: 200)
        head.fields[.contentType] = "application/grpc"
        head.fields[.grpcStatus] = String(status)
        head.fields[.grpcMessage] = message
        try await send(head, on: call)
    }

    private func send(_ response: HTTPResponse, on call: ServerStream) async throws {
        var head = response
        call.begin(&head, length: .none)
        try await call.outgoing.flush(within: Self.sendTimeout)
    }

    private func awaitDeparture(of call: ServerStream, on loop: EventLoop) async {
        let news = LoopWait(loop: loop)
        call.watchPeer { news.wake() }
        while true {
            let seen = news.news
            guard case .present = call.lookAtPeer() else { return }
            guard (try? await news.wait(after: seen, until: nil)) != nil else { return }
        }
    }
}
