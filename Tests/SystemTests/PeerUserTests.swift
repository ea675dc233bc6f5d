// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import Glibc
import Testing

/// Whose the other end of a TCP connection is.
struct `The user at the other end` {
    private struct Pair {
        let listener: Int32
        let client: Int32

        /// Connects by IPv4, by IPv6, or by IPv4 to a socket that takes both.
        init(listening family: Int32, connecting clientFamily: Int32) throws {
            listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
            client = socket(clientFamily, Int32(SOCK_STREAM.rawValue), 0)
            let isOnBoth = family != clientFamily
            var port: UInt16 = 0
            #expect(Self.use(family, port, isAny: isOnBoth) { bind(listener, $0, $1) } == 0)
            #expect(listen(listener, 1) == 0)
            var name = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            withUnsafeMutableBytes(of: &name) { bytes in
                guard let start = bytes.baseAddress else { return }
                getsockname(listener, start.assumingMemoryBound(to: sockaddr.self), &length)
            }
            port = UInt16(bigEndian: name.sin6_port)
            #expect(Self.use(clientFamily, port, isAny: false) { connect(client, $0, $1) } == 0)
        }

        func accepted() -> Int32 { accept(listener, nil, nil) }

        func close() { for descriptor in [listener, client] { Glibc.close(descriptor) } }

        private static func use(
            _ family: Int32, _ port: UInt16, isAny: Bool,
            _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var four = sockaddr_in()
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            six.sin6_addr = isAny ? in6addr_any : in6addr_loopback
            func call<Address>(_ address: inout Address) -> Int32 {
                let length = socklen_t(MemoryLayout<Address>.size)
                return withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
                }
            }
            return family == AF_INET ? call(&four) : call(&six)
        }
    }

    @Test(arguments: [(AF_INET, AF_INET), (AF_INET6, AF_INET6), (AF_INET6, AF_INET)])
    func `is known from either end, once somebody has accepted the connection`(
        family: Int32, clientFamily: Int32
    ) throws {
        let pair = try Pair(listening: family, connecting: clientFamily)
        defer { pair.close() }
        let client = try #require(ConnectionEnds(of: pair.client))
        #expect(client.isLoopback)
        #expect(client.peerUser() == .nobody, "nobody has accepted it yet")
        let server = pair.accepted()
        #expect(client.peerUser() == .known(geteuid()))
        let accepted = try #require(ConnectionEnds(of: server))
        #expect(accepted.isLoopback && accepted.peerUser() == .known(geteuid()))
        // Who has said all that it will is still there.
        shutdown(pair.client, Int32(SHUT_WR))
        #expect(accepted.peerUser() == .known(geteuid()) && ConnectionEnds.areConnected(server))
        close(server)
        #expect(client.peerUser() == .nobody)
    }

    @Test func `is nobody where another socket listens, and for no TCP connection there is none to ask`()
        throws
    {
        let pair = try Pair(listening: AF_INET, connecting: AF_INET)
        let ends = try #require(ConnectionEnds(of: pair.client))
        close(pair.client)
        #expect(ends.peerUser() == .nobody)
        close(pair.listener)
        #expect(ends.peerUser() == .nobody)
        var both: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &both) == 0)
        #expect(ConnectionEnds(of: both[0]) == nil)
        #expect(PeerUser(ofUnixSocket: both[0]) == .known(geteuid()))
        both.forEach { close($0) }
    }

    @Test func `has a name, or a number alone`() {
        #expect(UserName.number(of: "root") == 0 && UserName.of(0) == "root")
        #expect(UserName.number(of: "no such user") == nil && UserName.of(4_000_000_000) == nil)
    }

    @Test func `is told on another thread`() async throws {
        let pair = try Pair(listening: AF_INET, connecting: AF_INET)
        defer { pair.close() }
        let server = pair.accepted()
        defer { close(server) }
        let ends = try #require(ConnectionEnds(of: server))
        #expect(await PeerLookup().user(at: ends) == .known(geteuid()))
    }
}
