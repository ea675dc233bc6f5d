// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdTestSupport
import Glibc
import Testing

struct `A listening socket` {
    @Test func `a second process, or a second first socket, is told that the port is in use`() throws {
        let first = try ListeningSocket.tcp(host: "127.0.0.1", port: 0, joining: false)
        defer { first.forEach { $0.close() } }
        let port = try #require(first.first?.address?.port)
        #expect(port != 0)
        do {
            _ = try ListeningSocket.tcp(host: "127.0.0.1", port: port, joining: false)
            Issue.record("the port was bound twice")
        } catch {
            #expect(error.isInUse)
        }
    }

    @Test(arguments: ["127.0.0.1", "127.9.8.7", "::1"])
    func `on loopback a listener does without costly congestion control`(host: String) throws {
        let sockets = try ListeningSocket.tcp(host: host, port: 0, joining: false)
        defer { sockets.forEach { $0.close() } }
        #expect(sockets.map { OpenSockets.congestionControl(of: $0.descriptor) } == ["reno"])
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `elsewhere a listener has the system's congestion control`(host: String) throws {
        let sockets = try ListeningSocket.tcp(host: host, port: 0, joining: false)
        defer { sockets.forEach { $0.close() } }
        let untouched = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(untouched) }
        #expect(
            sockets.map { OpenSockets.congestionControl(of: $0.descriptor) } == [
                OpenSockets.congestionControl(of: untouched)
            ])
    }

    @Test(arguments: ["127.0.0.1", "::1", "0.0.0.0"])
    func `what a listener accepts finds out that its client is dead`(host: String) throws {
        let sockets = try ListeningSocket.tcp(host: host, port: 0, joining: false)
        defer { sockets.forEach { $0.close() } }
        #expect(sockets.map { OpenSockets.keepAlive(of: $0.descriptor) } == [[1, 60, 10, 3]])
        guard host == "127.0.0.1" else { return }
        let listener = try #require(sockets.first)
        let client = try Socket.connected(to: .tcp(port: #require(listener.address?.port)))
        let accepted = Glibc.accept(listener.descriptor, nil, nil)
        defer { close(accepted) }
        #expect(OpenSockets.keepAlive(of: accepted) == [1, 60, 10, 3])
        #expect(OpenSockets.keepAlive(of: client.descriptor).first == 0)
    }

    @Test func `the other workers join the first socket's port`() throws {
        let first = try ListeningSocket.tcp(host: "127.0.0.1", port: 0, joining: false)
        let port = try #require(first.first?.address?.port)
        let second = try ListeningSocket.tcp(host: "127.0.0.1", port: port, joining: true)
        #expect(second.first?.address?.port == port)
        (first + second).forEach { $0.close() }
    }

    @Test func `a Unix socket that nobody serves is taken over, one in use is not`() throws {
        let path = "/tmp/bearerd-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        defer { unlink(path) }
        try ListeningSocket.unix(path: path).close()
        let live = try ListeningSocket.unix(path: path)
        #expect(throws: ListeningSocket.BindError.self) { _ = try ListeningSocket.unix(path: path) }
        live.close()
    }

    @Test func `a Unix socket whose server takes no connection is in use, and that is said at once`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("full.sock")
        let (server, address) = try Socket.listening(unixPath: path)
        #expect(listen(server.descriptor, 0) == 0)
        // The queue has room for one more than it was given.
        let waiting = try Socket.connected(to: address)
        defer { withExtendedLifetime((server, waiting)) {} }
        #expect(throws: ListeningSocket.BindError.self) { _ = try ListeningSocket.unix(path: path) }
    }

    @Test func `a file in a Unix socket's place is left alone`() throws {
        let path = "/tmp/bearerd-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).txt"
        defer { unlink(path) }
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        do {
            _ = try ListeningSocket.unix(path: path)
            Issue.record("the file was replaced")
        } catch {
            #expect(error.isInUse)
        }
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }

    @Test func `a socket that was passed is told by its own address`() throws {
        let directory = try TemporaryDirectory()
        let (internet, address) = try Socket.listening()
        let (unix, _) = try Socket.listening(unixPath: directory.path("passed.sock"))
        let port = address.port
        #expect(
            try ListeningSocket.passed(internet.descriptor).address == .tcp(host: "127.0.0.1", port: port))
        #expect(
            try ListeningSocket.passed(unix.descriptor).address
                == .unix(path: directory.path("passed.sock")))
        #expect(fcntl(internet.descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(internet.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `what does not listen is not taken`() throws {
        let (refusing, _) = try Socket.refusing()
        let directory = try TemporaryDirectory()
        let file = open(directory.path, O_RDONLY)
        let datagrams = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        defer { [file, datagrams].forEach { close($0) } }
        for descriptor in [refusing.descriptor, file, datagrams] {
            #expect {
                try ListeningSocket.passed(descriptor)
            } throws: { error in
                if case ListeningSocket.BindError.notListening = error { true } else { false }
            }
        }
        #expect {
            try ListeningSocket.passed(9999)
        } throws: { error in
            if case ListeningSocket.BindError.failed(EBADF, _) = error { true } else { false }
        }
    }
}
