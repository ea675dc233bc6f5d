// SPDX-License-Identifier: Apache-2.0

/// A resource server that records what it receives and answers as it is told.
package final class RawUpstream: Sendable {
    private struct State {
        var requests: [RawRequest] = []
        var answer: @Sendable (RawRequest) throws -> Reply
    }

    private let server: RawServer
    private let state: Monitor<State>
    private let isSecure: Bool

    /// Answers every request with what `answer` says.
    package init(
        unixPath: String? = nil, host: UInt8 = 1, port: UInt16 = 0, tls: TLSServer? = nil,
        answer: @escaping @Sendable (RawRequest) throws -> Reply = { _ in .ok() }
    ) throws {
        let state = Monitor(State(answer: answer))
        self.state = state
        isSecure = tls != nil
        server = try RawServer(unixPath: unixPath, host: host, port: port, tls: tls) { wire in
            while let request = try wire.readRequest() {
                let answer = state.withLock { state in
                    state.requests.append(request)
                    return state.answer
                }
                guard try answer(request).send(to: wire) else { return }
            }
        }
    }

    /// Serves each connection by a script of its own; nothing is recorded.
    package init(
        unixPath: String? = nil, tls: TLSServer? = nil, script: @escaping @Sendable (Wire) throws -> Void
    ) throws {
        state = Monitor(State { _ in .close })
        isSecure = tls != nil
        server = try RawServer(unixPath: unixPath, tls: tls, serve: script)
    }

    /// As it stands in a route's `upstream`.
    package var url: String {
        switch server.address {
        case .tcp(let port):
            "\(isSecure ? "https" : "http")://\(isSecure ? "localhost" : "127.0.0.1"):\(port)"
        case .unix(let path): "http+unix:\(path)"
        }
    }

    /// The expected value of `Host`.
    package var authority: String { String(url.drop { $0 != "/" }.dropFirst(2)) }

    /// The address on which it listens.
    package var address: Address { server.address }

    /// How many connections it has had.
    package var connectionCount: Int { server.connectionCount }

    /// How many connections it has.
    package var openConnectionCount: Int { server.openConnectionCount }

    /// Every request so far.
    package var requests: [RawRequest] { state.withLock { $0.requests } }

    /// The access tokens that it was shown, in order.
    package var tokens: [String] {
        requests.map { request in
            request["Authorization"].map { String($0.dropFirst("Bearer ".count)) } ?? ""
        }
    }

    /// Answers differently from now on.
    package func answer(_ answer: @escaping @Sendable (RawRequest) throws -> Reply) {
        state.withLock { $0.answer = answer }
    }

    /// Waits for the `count`-th request and returns it.
    @discardableResult
    package func request(_ count: Int = 1, within limit: Duration = patience) throws -> RawRequest {
        try state.wait(for: "upstream request \(count)", within: limit) { state in
            state.requests.count >= count ? state.requests[count - 1] : nil
        }
    }

    /// Waits until so many connections were accepted.
    package func awaitConnections(_ count: Int) throws { try server.awaitConnections(count) }

    /// Waits until no connection is open.
    package func awaitNoConnections(within limit: Duration = patience) throws {
        try server.awaitNoConnections(within: limit)
    }

    /// Ends the connections that there are, as a server does with idle ones.
    package func closeConnections() { server.closeConnections() }

    /// Refuses connections from now on.
    package func stop() { server.stop() }
}
