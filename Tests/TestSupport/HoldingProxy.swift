// SPDX-License-Identifier: Apache-2.0

/// A forward proxy that leads every CONNECT to one server, and has the end of a TLS 1.2 handshake wait for what the server
/// says next, so that both arrive together.
package final class HoldingProxy: Sendable {
    private let server: RawServer
    private let heads: Monitor<[RawHead]>

    private let isSecure: Bool

    /// - Parameters:
    ///   - tls: of the connections to the proxy itself; nil for plain ones.
    ///   - isJoining: whether the server speaks no TLS, and its first words go out with the proxy's own answer.
    package init(to target: Address, tls: TLSServer? = nil, isJoining: Bool = false) throws {
        let heads = Monitor([RawHead]())
        self.heads = heads
        isSecure = tls != nil
        server = try RawServer(tls: tls) { client in
            guard let head = try client.readHead() else { return }
            heads.withLock { $0.append(head) }
            let upstream = try Wire(to: target)
            let words = isJoining ? try upstream.readSome() : []
            try client.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + words)
            startThread {
                while let bytes = try? client.readSome(), !bytes.isEmpty { try? upstream.send(bytes) }
                upstream.close()
            }
            guard isJoining else { return try Self.relay(from: upstream, to: client) }
            while case let bytes = try upstream.readSome(), !bytes.isEmpty { try client.send(bytes) }
        }
    }

    package var url: String {
        isSecure ? "https://localhost:\(server.address.port)" : "http://\(server.address)"
    }

    /// The CONNECTs so far.
    package var requests: [String] { heads.withLock { $0.map(\.startLine) } }

    /// The types of TLS records (RFC 5246 section 6.2.1).
    private static let (changeCipherSpec, applicationData) = (UInt8(20), UInt8(23))

    private static func relay(from upstream: Wire, to client: Wire) throws {
        var (held, rest) = ([UInt8](), [UInt8]())
        var (isHolding, isOver) = (false, false)
        while case let bytes = try upstream.readSome(), !bytes.isEmpty {
            guard !isOver else {
                try client.send(bytes)
                continue
            }
            rest += bytes
            while rest.count >= 5, rest.count >= 5 + Int(rest[3]) << 8 + Int(rest[4]) {
                let record = rest.prefix(5 + Int(rest[3]) << 8 + Int(rest[4]))
                if record.first == changeCipherSpec { isHolding = true }
                if record.first == applicationData { isOver = true }
                held += record
                rest.removeFirst(record.count)
            }
            guard !isHolding || isOver else { continue }
            try client.send(held + (isOver ? rest : []))
            held = []
        }
    }
}
