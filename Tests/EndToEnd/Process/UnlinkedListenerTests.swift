// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Somebody takes the name of a Unix socket away on which a daemon listens: a cleaner, or who makes its directory anew.
@Suite(.blocking) struct `A Unix socket whose name is gone` {
    private static func inode(_ path: String) -> ino_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : nil
    }

    @Test func `gets it back with a reload, which leaves one that has it alone`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data.sock")
        let settings = Sidecar.Settings(listen: "unix:\(path)")
        let sidecar = try Sidecar(directory: directory, settings)
        let kept = try sidecar.client()
        #expect(try kept.request("GET", "/").status == 200)
        for _ in 0..<2 {
            unlink(path)
            #expect(throws: (any Error).self) { try RawClient(to: .unix(path: path)) }
            try sidecar.reload(to: settings)
            #expect(try RawClient(to: .unix(path: path)).request("GET", "/").status == 200)
            #expect(try kept.request("GET", "/").status == 200)
            let inode = try #require(Self.inode(path))
            try sidecar.reload(to: settings)
            #expect(Self.inode(path) == inode)
        }
        // Another one has it now: that is told, and what there is stays.
        unlink(path)
        let other = try Socket.listening(unixPath: path)
        let answer = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 422 && answer.text.contains("listens there"), "\(answer.text)")
        #expect(try kept.request("GET", "/").status == 200)
        withExtendedLifetime(other) {}
        unlink(path)
        try sidecar.reload(to: settings)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        #expect(Self.inode(path) == nil)
    }

    @Test func `is told by doctor, with what mends it`() throws {
        var fixture = try DoctorFixture()
        let path = fixture.directory.path("data.sock")
        fixture.settings.listen = "unix:\(path)"
        fixture.admin = "\(try Socket.refusing().address)"
        #expect(try fixture.run("--check", "listen").seen(by: "listen").hasPrefix("unix:\(path) is free"))
        let daemon = try BearerdProcess(arguments: ["run", "-c", fixture.file()])
        _ = try daemon.admin
        let well = try fixture.run("--check", "listen")
        #expect(well.exit == 0 && well.seen(by: "listen").contains("is the running daemon's"), "\(well)")
        unlink(path)
        let result = try fixture.run("--check", "listen")
        #expect(result.exit == 69 && result.result(of: "listen") == "fail", "\(result)")
        #expect(result.seen(by: "listen").contains("pid \(daemon.process.processID)"), "\(result)")
        #expect(result.seen(by: "listen").contains("whose name is gone"), "\(result)")
        #expect(result.fix(of: "listen").hasPrefix("bearerd reload"), "\(result)")
        let other = try Socket.listening(unixPath: path)
        let taken = try fixture.run("--check", "listen")
        #expect(taken.exit == 69 && taken.seen(by: "listen").contains("is taken by"), "\(taken)")
        withExtendedLifetime((other, daemon)) {}
    }

    @Test func `is a listener that accepts nobody, where a process has it and stands still`() throws {
        var fixture = try DoctorFixture()
        let path = fixture.directory.path("admin.sock")
        fixture.admin = "unix:\(path)"
        let holder = try Socket.listening(unixPath: path)
        try #require(listen(holder.socket.descriptor, 0) == 0)
        let waiting = try Socket.connected(to: .unix(path: path))
        let result = try fixture.run("--check", "daemon")
        #expect(result.exit == 69 && result.seen(by: "daemon").contains("accepts nobody"), "\(result)")
        withExtendedLifetime((holder, waiting)) {}
    }
}
