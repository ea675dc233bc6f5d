// SPDX-License-Identifier: Apache-2.0

/// A server on a raw socket: a thread accepts, and each connection is served by a thread of its own.
///
/// It stops, and its connections end, when the object goes.
package final class RawServer: Sendable {
    private struct Connections: Sendable {
        var accepted = 0
        var live: [Int: any ByteStream] = [:]
        var isStopped = false
    }

    /// Where it listens.
    package let address: Address
    private let listener: Socket
    private let connections = Monitor(Connections())

    /// Listens at a free port of 127.0.0.1, at this port of 127.0.0.`host`, or at `unixPath`; with `tls` it speaks TLS.
    package init(
        unixPath: String? = nil, host: UInt8 = 1, port: UInt16 = 0, tls: TLSServer? = nil,
        serve: @escaping @Sendable (Wire) throws -> Void
    ) throws {
        (listener, address) = try Socket.listening(unixPath: unixPath, host: host, port: port)
        startThread { [listener, connections] in
            while let socket = listener.accept() {
                startThread { RawServer.serve(socket, tls, among: connections, serve) }
            }
        }
    }

    deinit { stop() }

    /// How many connections were accepted so far.
    package var connectionCount: Int { connections.withLock { $0.accepted } }

    /// How many connections are open.
    package var openConnectionCount: Int { connections.withLock { $0.live.count } }

    /// Waits until so many connections were accepted.
    package func awaitConnections(_ count: Int) throws {
        try connections.wait(for: "\(count) connections") { $0.accepted >= count ? () : nil }
    }

    /// Waits until no connection is open.
    package func awaitNoConnections(within limit: Duration = patience) throws {
        try connections.wait(for: "every connection to end", within: limit) { $0.live.isEmpty ? () : nil }
    }

    /// Refuses connections from now on, and ends those that there are.
    package func stop() {
        listener.close()
        let live = connections.withLock { connections in
            connections.isStopped = true
            return connections.live.values
        }
        for stream in live { stream.close() }
    }

    /// Ends the connections that there are; new ones are welcome.
    package func closeConnections() {
        for stream in connections.withLock({ $0.live.values }) { stream.close() }
    }

    private static func serve(
        _ socket: Socket, _ tls: TLSServer?, among connections: Monitor<Connections>,
        _ body: @Sendable (Wire) throws -> Void
    ) {
        guard let stream: any ByteStream = tls == nil ? socket : try? tls?.accept(socket) else {
            connections.withLock { $0.accepted += 1 }
            return
        }
        let number = connections.withLock { connections in
            connections.accepted += 1
            connections.live[connections.accepted] = stream
            if connections.isStopped { stream.close() }
            return connections.accepted
        }
        try? body(Wire(stream))
        stream.close()
        connections.withLock { $0.live[number] = nil }
    }
}
