// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Glibc
import Testing

@Suite(.blocking) struct `A plain upstream` {
    /// Applies `look` to the socket of a connection, of which there must be one.
    private func onSocket<Found: Sendable>(
        _ look: @escaping @Sendable (Int32) -> Found
    ) async throws -> [Found] {
        let upstream = try RawUpstream()
        let address = try upstream.address()
        let port = upstream.address.port
        return try await onLoop { multis in
            let connection = try await connect(to: address, multis)
            _ = try await connection.exchange()
            let found = OpenSockets.connected(toPort: port).map(look)
            withExtendedLifetime(connection) {}
            return found
        }
    }

    @Test func `a plain connection carries requests one after the other`() async throws {
        let upstream = try RawUpstream()
        let address = try upstream.address()
        let answers = try await onLoop { multis in
            let connection = try await connect(to: address, multis)
            return [try await connection.exchange(), try await connection.exchange()]
        }
        #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") && $0.hasSuffix("hello") })
        #expect(upstream.connectionCount == 1)
        try upstream.awaitNoConnections()
    }

    @Test func `on loopback a connection does without costly congestion control`() async throws {
        #expect(try await onSocket { OpenSockets.congestionControl(of: $0) } == ["reno"])
    }

    @Test func `a connection finds out that its upstream is dead`() async throws {
        #expect(try await onSocket { OpenSockets.keepAlive(of: $0) } == [[1, 60, 10, 3]])
    }

    @Test func `a Unix socket is an upstream like any other`() async throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream(unixPath: directory.path("api.sock"))
        let address = try upstream.address()
        let answer = try await onLoop { try await connect(to: address, $0).exchange() }
        #expect(answer.hasSuffix("hello"))
    }

    @Test func `connect_to leads elsewhere than the URL`() async throws {
        let upstream = try RawUpstream()
        var transport = Transport()
        transport.connectTo = ConnectDestination("127.0.0.1:\(upstream.address.port)")
        let address = UpstreamAddress(url: try url("http://api.example.invalid"), transport: transport)
        let answer = try await onLoop { try await connect(to: address, $0).exchange() }
        #expect(answer.hasSuffix("hello"))
    }

    @Test func `a port on which nobody listens refuses`() async throws {
        let (socket, address) = try Socket.refusing()
        let target = UpstreamAddress(url: try url("http://\(address)"))
        await #expect(throws: UpstreamError.connectionRefused) {
            try await onLoop { _ = try await connect(to: target, $0) }
        }
        withExtendedLifetime(socket) {}
    }

    @Test func `a Unix socket that is not there is unreachable`() async throws {
        let target = UpstreamAddress(url: try url("http+unix:/nonexistent/socket"))
        await #expect(throws: UpstreamError.unreachable) {
            try await onLoop { _ = try await connect(to: target, $0) }
        }
    }

    @Test func `a name without an address is a name error`() async throws {
        let target = UpstreamAddress(url: try url("http://nobody.invalid"))
        let error = await #expect(throws: UpstreamError.self) {
            try await onLoop { _ = try await connect(to: target, $0) }
        }
        #expect(error == .dnsError || error == .dnsTimeout)
    }

    @Test func `a listener that accepts nobody times the connecting out`() async throws {
        let full = try FullListener()
        let target = UpstreamAddress(url: try url("http://\(full.address)"))
        await #expect(throws: UpstreamError.connectionTimeout) {
            try await onLoop { multis in
                _ = try await UpstreamConnector(address: target, multis: multis).connect(
                    within: .milliseconds(100))
            }
        }
    }

    @Test func `a Unix socket whose queue is full is waited for`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("socket")
        let (listener, address) = try Socket.listening(unixPath: path)
        listen(listener.descriptor, 0)
        let first = try Socket.connected(to: address)
        let target = UpstreamAddress(url: try url("http+unix:\(path)"))
        try await onLoop { multis in
            let connector = UpstreamConnector(address: target, multis: multis)
            let error = await failure { () async throws(UpstreamError) in
                _ = try await connector.connect(within: .milliseconds(50))
            }
            #expect(error == .connectionTimeout)
            let loop = multis.loop
            let accepting = Task(executorPreference: loop) {
                // By then it has been told once that there is no room.
                await loop.pause(for: .milliseconds(5))
                close(accept(listener.descriptor, nil, nil))
            }
            try await connector.connect(within: patience).close()
            await accepting.value
        }
        withExtendedLifetime((directory, first)) {}
    }

    @Test func `those who wait for a Unix socket whose queue is full have it in turn`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("socket")
        let (listener, address) = try Socket.listening(unixPath: path)
        listen(listener.descriptor, 0)
        let first = try Socket.connected(to: address)
        let target = UpstreamAddress(url: try url("http+unix:\(path)"))
        try await onLoop { multis in
            let loop = multis.loop
            let line = Line(UpstreamConnector(address: target, multis: multis))
            var waiting: [Task<Void, Never>] = []
            for number in 0..<6 {
                waiting.append(line.join(number, on: loop))
                try await eventually(loop, "a place in the line") { line.begun == number + 1 }
            }
            // Whoever leaves while another tries for it is not waited for.
            waiting[2].cancel()
            await waiting[2].value
            #expect(line.order.isEmpty && line.errors == [.cancelled])
            for number in [0, 1, 3, 4, 5] {
                close(accept(listener.descriptor, nil, nil))
                await waiting[number].value
            }
            #expect(line.order == [0, 1, 3, 4, 5])
        }
        withExtendedLifetime((directory, first)) {}
    }

    @Test func `a cancelled task gives the connecting up`() async throws {
        let full = try FullListener()
        let target = UpstreamAddress(url: try url("http://\(full.address)"))
        let client = try ClientLoop()
        defer { client.stop() }
        let task = Task {
            try await client.run { _ = try await connect(to: target, $0) }
        }
        task.cancel()
        await #expect(throws: UpstreamError.cancelled) { try await task.value }
    }

    @Test func `no descriptor, no connection, and the error says so`() async throws {
        // In a process of its own: the shortage is everybody's.
        await #expect(processExitsWith: .success) {
            let upstream = try RawUpstream()
            let address = try upstream.address()
            let error = try await onLoop { multis in
                // What a first connection needs once, it has now; and the server has accepted it.
                let first = try await connect(to: address, multis)
                _ = try await first.exchange()
                defer { first.stream.close() }
                let hoard = DescriptorHoard()
                defer { hoard.release() }
                let connector = UpstreamConnector(address: address, multis: multis)
                return await failure { () async throws(UpstreamError) in
                    _ = try await connector.connect(within: patience)
                }
            }
            #expect(error == .noDescriptors)
        }
    }

    @Test func `connections leave nothing behind in the process`() async throws {
        await #expect(processExitsWith: .success) {
            let upstream = try RawUpstream()
            let address = try upstream.address()
            let (before, after) = try await onLoop { multis in
                let connector = UpstreamConnector(address: address, multis: multis)
                _ = try await connector.connect(within: patience).exchange()
                let before = descriptorCount()
                for _ in 0..<200 { _ = try await connector.connect(within: patience).exchange() }
                return (before, descriptorCount())
            }
            #expect(after <= before + 8)
            try upstream.awaitNoConnections()
        }
    }
}

/// The descriptors that this process has open.
private func descriptorCount() -> Int { TemporaryDirectory.entries(of: "/proc/self/fd").count }

/// Those who connect, one after the other.
///
/// `@unchecked Sendable`: everything in it is touched on one loop's thread, on which all its tasks run.
private final class Line: @unchecked Sendable {
    private let connector: UpstreamConnector
    private(set) var begun = 0
    private(set) var order: [Int] = []
    private(set) var errors: [UpstreamError] = []

    init(_ connector: UpstreamConnector) { self.connector = connector }

    func join(_ number: Int, on loop: EventLoop) -> Task<Void, Never> {
        Task(executorPreference: loop) { await self.connect(number) }
    }

    private nonisolated(nonsending) func connect(_ number: Int) async {
        begun += 1
        do throws(UpstreamError) {
            let connection = try await connector.connect(within: patience)
            order.append(number)
            connection.close()
        } catch {
            errors.append(error)
        }
    }
}

/// Opens a connection with time enough.
func connect(to address: UpstreamAddress, _ multis: CurlMultiSet) async throws -> UpstreamConnection {
    try await UpstreamConnector(address: address, multis: multis).connect(within: patience)
}

/// A listener whose queue is full: the kernel drops every further SYN.
private final class FullListener: Sendable {
    let address: Address
    private let sockets: [Socket]

    init() throws {
        let (listener, address) = try Socket.listening()
        listen(listener.descriptor, 0)
        self.address = address
        var sockets = [listener]
        for _ in 0..<4 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = address.port.bigEndian
            target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            withUnsafePointer(to: &target) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            sockets.append(Socket(descriptor: descriptor))
        }
        self.sockets = sockets
    }
}

/// Every descriptor that the process may still open, for a moment.
private final class DescriptorHoard {
    private var before = rlimit()

    init() {
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        let lowestFree = dup(0)
        close(lowestFree)
        var none = before
        none.rlim_cur = rlim_t(lowestFree)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
    }

    func release() { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
}
