// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Listeners at Unix sockets leave nothing behind that is theirs, and touch nothing that is not.
@Suite(.blocking) struct `A listener at a Unix socket` {
    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func configuration(_ upstream: RawUpstream, listen: String, admin: String) -> String {
        """
        listen: unix:\(listen)
        admin: {listen: "unix:\(admin)"}
        routes: [{path: /, upstream: "\(upstream.url)", identity: none}]
        """
    }

    @Test func `takes its name with it, the admin listener's too`() throws {
        let directory = try TemporaryDirectory()
        let (data, admin) = (directory.path("data.sock"), directory.path("admin.sock"))
        let upstream = try RawUpstream()
        let bearerd = try BearerdProcess(
            configuration: Self.configuration(upstream, listen: data, admin: admin), in: directory)
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").status == 200)
        #expect(try RawClient(to: bearerd.admin).request("GET", "/healthz").status == 200)
        #expect(try bearerd.terminate() == .exited(0))
        #expect(!Self.isThere(data) && !Self.isThere(admin))
    }

    @Test func `leaves the name to whoever has taken it`() throws {
        let directory = try TemporaryDirectory()
        let (data, admin) = (directory.path("data.sock"), directory.path("admin.sock"))
        let upstream = try RawUpstream()
        let bearerd = try BearerdProcess(
            configuration: Self.configuration(upstream, listen: data, admin: admin), in: directory)
        _ = try bearerd.admin
        for path in [data, admin] { unlink(path) }
        let other = try RawUpstream(unixPath: data) { _ in .ok("another") }
        try directory.write("admin.sock", "a file")
        #expect(try bearerd.terminate() == .exited(0))
        #expect(try RawClient(to: other.address).request("GET", "/").text == "another")
        #expect(TemporaryDirectory.contents(of: admin) == Array("a file".utf8))
    }

    @Test func `makes room for the next daemon while it drains`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data.sock")
        let gate = Gate()
        let upstream = try RawUpstream { request in
            request.head.target == "/slow" ? .ok("late").held(by: gate) : .ok()
        }
        func start(_ admin: String) throws -> BearerdProcess {
            try BearerdProcess(
                configuration: Self.configuration(upstream, listen: path, admin: directory.path(admin)),
                in: directory)
        }
        let first = try start("first.sock")
        let slow = try RawClient(to: first.proxy)
        try slow.send("GET", "/slow")
        try upstream.request()
        first.process.signal(SIGTERM)
        try eventually("the name to go") { !Self.isThere(path) }
        let second = try start("second.sock")
        gate.open()
        #expect(try slow.wire.readResponse().text == "late")
        #expect(try first.process.waitForEnd() == .exited(0))
        #expect(try RawClient(to: second.proxy).request("GET", "/").status == 200)
        #expect(try second.terminate() == .exited(0))
        #expect(!Self.isThere(path))
    }

    @Test func `is warned of where others may put a socket of their own`() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.path("shared"), 0o700)
        let upstream = try RawUpstream()
        let file = try directory.write(
            "config.yaml",
            Self.configuration(
                upstream, listen: directory.path("shared/data.sock"),
                admin: directory.path("shared/admin.sock")))
        #expect(try !BearerdProcess.command("check", "-c", file).errors.contains("others may write"))
        chmod(directory.path("shared"), 0o1777)
        let check = try BearerdProcess.command("check", "-c", file)
        let said = check.output + check.errors
        #expect(check.exit == 0, "\(said)")
        #expect(
            said.split(separator: "\n").count {
                $0.contains("others may write to \(directory.path("shared"))")
            }
                == 2, "\(said)")
    }
}
