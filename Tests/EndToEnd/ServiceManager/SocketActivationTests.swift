// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Listeners whose sockets somebody else opened (sd_listen_fds(3)).
@Suite(.blocking) struct `A socket that was passed` {
    /// Becomes what it is given, with `LISTEN_PID` set to its own number.
    private static let launcher = ["/bin/sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh"]

    private static func start(
        _ configuration: String, in directory: TemporaryDirectory, names: String?, passing: [Int32]
    ) throws -> BearerdProcess {
        var environment = ["LISTEN_FDS": "\(passing.count)"]
        environment["LISTEN_FDNAMES"] = names
        return try BearerdProcess(
            configuration: configuration, in: directory, environment: environment, launcher: launcher,
            passing: passing)
    }

    private static func configuration(_ upstream: RawUpstream, listen: String, more: String = "") -> String {
        """
        listen: \(listen)
        workers: 2
        routes: [{path: /, upstream: "\(upstream.url)", identity: none}]
        \(more)
        """
    }

    @Test func `serves under its name or number, whatever Host with a loopback name`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream()
        let (web, webAddress) = try Socket.listening()
        let (other, otherAddress) = try Socket.listening(unixPath: directory.path("other.sock"))
        let (admin, adminAddress) = try Socket.listening()
        let bearerd = try Self.start(
            Self.configuration(upstream, listen: "[systemd:web, fd:4]", more: "admin: {listen: systemd:ops}"),
            in: directory, names: "web:other:ops",
            passing: [web.descriptor, other.descriptor, admin.descriptor])
        #expect(try bearerd.proxy == webAddress)
        for address in [webAddress, otherAddress] {
            for host in ["localhost", "127.0.0.1:1234", "[::1]:80"] {
                let answer = try RawClient(to: address).request("GET", "/", [("Host", host)])
                #expect(answer.status == 200)
            }
            #expect(try RawClient(to: address).request("GET", "/", [("Host", "evil.example")]).status == 421)
        }
        #expect(try RawClient(to: adminAddress).request("GET", "/healthz").status == 200)
        #expect(try bearerd.terminate() == .exited(0))
        #expect(access(directory.path("other.sock"), F_OK) == 0)
    }

    @Test func `keeps connections waiting for the next daemon`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream()
        let (web, address) = try Socket.listening()
        let text = Self.configuration(upstream, listen: "systemd:web")
        let first = try Self.start(text, in: directory, names: "web", passing: [web.descriptor])
        #expect(try RawClient(to: address).request("GET", "/").status == 200)
        #expect(try first.terminate() == .exited(0))
        let waiting = try RawClient(to: address)
        try waiting.send("GET", "/")
        let second = try Self.start(text, in: directory, names: "web", passing: [web.descriptor])
        #expect(try waiting.wire.readResponse().status == 200)
        #expect(try second.terminate() == .exited(0))
    }

    @Test(arguments: [
        ("systemd:web", "other", 69, "those that were: other"),
        ("systemd:web", nil, 69, "those that were: unknown"),
        ("fd:9", "web", 69, "fd:9"), ("fd:1", "web", 69, "no stream socket that listens"),
        ("[systemd:web, fd:3]", "web", 78, "listened on twice"),
    ])
    func `that is another, none, or taken twice ends the start with a reason`(
        listen: String, names: String?, status: Int32, words: String
    ) throws {
        let directory = try TemporaryDirectory()
        let (web, _) = try Socket.listening()
        let file = try directory.write(
            "config.yaml", Self.configuration(try RawUpstream(), listen: listen))
        var environment = ["LISTEN_FDS": "1"]
        environment["LISTEN_FDNAMES"] = names
        let process = try Subprocess(
            Self.launcher + [BearerdProcess.binary, "run", "-c", file], environment: environment,
            passing: [web.descriptor])
        #expect(try process.waitForEnd() == .exited(status))
        #expect(process.errors.withLock { $0.text }.contains(words))
    }

    @Test func `is no upstream of its own`() throws {
        let directory = try TemporaryDirectory()
        let (upstream, (web, address)) = (try RawUpstream(), try Socket.listening())
        let text = Self.configuration(upstream, listen: "systemd:web")
        let file = try directory.write(
            "config.yaml", text.replacing(upstream.url, with: "http://\(address)"))
        let process = try Subprocess(
            Self.launcher + [BearerdProcess.binary, "run", "-c", file],
            environment: ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"], passing: [web.descriptor])
        #expect(try process.waitForEnd() == .exited(78))
        #expect(process.errors.withLock { $0.text }.contains("round in circles"))
    }

    @Test func `for TCP has no identities by uid, which nobody would know`() throws {
        let directory = try TemporaryDirectory()
        let (upstream, (web, _)) = (try RawUpstream(), try Socket.listening())
        let text = Self.configuration(upstream, listen: "systemd:web").replacing(
            "identity: none", with: "identity: {uid: {0: none}}")
        let file = try directory.write("config.yaml", text)
        let process = try Subprocess(
            Self.launcher + [BearerdProcess.binary, "run", "-c", file],
            environment: ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"], passing: [web.descriptor])
        #expect(try process.waitForEnd() == .exited(78))
        #expect(process.errors.withLock { $0.text }.contains("identity.uid needs a Unix socket"))
    }

    @Test func `is not looked for where the variables are another process's`() throws {
        let directory = try TemporaryDirectory()
        let (web, _) = try Socket.listening()
        let file = try directory.write(
            "config.yaml", Self.configuration(try RawUpstream(), listen: "systemd:web"))
        let process = try Subprocess(
            [BearerdProcess.binary, "run", "-c", file],
            environment: ["LISTEN_FDS": "1", "LISTEN_PID": "1"], passing: [web.descriptor])
        #expect(try process.waitForEnd() == .exited(69))
        #expect(process.errors.withLock { $0.text }.contains("FileDescriptorName="))
    }

    @Test func `off loopback is plain HTTP only where that is allowed`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream()
        let (web, address) = try Socket.listeningEverywhere()
        let file = try directory.write("config.yaml", Self.configuration(upstream, listen: "systemd:web"))
        let refused = try Subprocess(
            Self.launcher + [BearerdProcess.binary, "run", "-c", file],
            environment: ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"], passing: [web.descriptor])
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.errors.withLock { $0.text }.contains("unsafe_listen: true"))
        let bearerd = try Self.start(
            Self.configuration(upstream, listen: "systemd:web", more: "unsafe_listen: true"), in: directory,
            names: "web", passing: [web.descriptor])
        #expect(try RawClient(to: address).request("GET", "/").status == 200)
        // Nor does a reload take that permission away and leave the socket as it is.
        try directory.write("config.yaml", Self.configuration(upstream, listen: "systemd:web"))
        bearerd.process.signal(SIGHUP)
        try bearerd.logLine("the refusal") { $0["reason"]?.contains("unsafe_listen: true") == true }
        #expect(try RawClient(to: address).request("GET", "/").status == 200)
        #expect(try bearerd.terminate() == .exited(0))
    }
}
