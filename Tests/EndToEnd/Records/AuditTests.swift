// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What `audit.file` says of requests, and what becomes of them when it cannot be written.
@Suite(.blocking) struct `The audit file` {
    @Test func `says of each request that got a token who asked for what, and nothing secret`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("audit.log")
        let sidecar = try Sidecar(
            directory: directory,
            Sidecar.Settings(
                top: "audit: {file: \(file)}", route: "allow: [{path: /api/**}]",
                moreRoutes: "- {path: /free, upstream: http://127.0.0.1:1, identity: none}",
                listen: "[127.0.0.1:0, \"unix:\(directory.path("socket"))\"]"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/api/x?key=fake-secret", [("Cookie", "fake-cookie")]).status == 200)
        #expect(try sidecar.get("/denied").status == 403)
        #expect(try sidecar.get("/free").status == 502)
        #expect(
            try RawClient(to: .unix(path: directory.path("socket"))).request("POST", "/api/y").status == 200)
        let lines = try Self.lines(of: file, count: 2)
        let first = try #require(lines.first { $0["peer"].string == "127.0.0.1" })
        #expect(first["path"].string == "/api/x" && first["status"].number == 200)
        #expect(first["route"].string == "/" && first["identity"].string == "default")
        #expect(first["method"].string == "GET")
        #expect(try first["generation"].number == sidecar.identityStatus()["generation"].number)
        #expect(first["uid"] == .null && first["subject"] == .null)
        let second = try #require(lines.first { $0["peer"].string == "unix:" })
        #expect(second["method"].string == "POST")
        #expect(second["uid"].number == Double(geteuid()))
        #expect(second["command"].string?.isEmpty == false)
        #expect(second["executable"] == .null || second["executable"].string?.hasPrefix("/") == true)
        #expect(first["executable"] == .null && first["command"] == .null)
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        for secret in sidecar.provider.accessTokens + ["fake-secret", "fake-cookie"] {
            #expect(!text.contains(secret))
        }
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test(.needs(.root))
    func `takes nobody's word for the program that asks`() throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o711)
        let (file, socket) = (directory.path("audit.log"), directory.path("socket"))
        let sidecar = try Sidecar(
            directory: directory,
            Sidecar.Settings(
                top: "audit: {file: \(file)}\naccess: {peer_uids: [0, 65534]}", listen: "\"unix:\(socket)\""))
        try sidecar.awaitToken()
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        #expect(
            try Stranger.send(request, toSocket: socket, as: 65534, calling: "/usr/bin/ok").contains(" 200 "))
        let line = try Self.lines(of: file, count: 1)[0]
        #expect(line["executable"] == .null && line["command"].string == "_usr_bin_ok", "\(line)")
    }

    @Test func `names the person of a session`() throws {
        let site = try LoginSite(top: "audit: {file: audit.log}")
        try site.begin()
        try eventually("a token, and nobody at the upstream") {
            try RawClient(to: site.bearerd.proxy).request("GET", "/").status == 502
        }
        let line = try Self.lines(of: site.directory.path("audit.log"), count: 1)[0]
        #expect(line["identity"].string == "web" && line["status"].number == 502)
        #expect(line["subject"].string?.isEmpty == false)
    }

    @Test func `is made anew by a reload after it was rotated`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("logs/audit.log")
        mkdir(directory.path("logs"), 0o700)
        let sidecar = try Sidecar(directory: directory, Sidecar.Settings(top: "audit: {file: \(file)}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/one").status == 200)
        #expect(try Self.lines(of: file, count: 1)[0]["path"].string == "/one")
        rename(file, file + ".1")
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        #expect(try sidecar.get("/two").status == 200)
        #expect(try Self.lines(of: file, count: 1)[0]["path"].string == "/two")
        #expect(try Self.lines(of: file + ".1", count: 1).count == 1)
    }

    @Test(.needs(.root))
    func `that a reload takes away has the lines of requests that began with it, and is closed then`()
        throws
    {
        let directory = try TemporaryDirectory()
        let file = directory.path("audit.log")
        let upstream = try RawUpstream()
        let gate = Gate()
        upstream.answer { request in
            request.head.target == "/slow" ? Reply.ok().held(by: gate) : .ok()
        }
        let sidecar = try Sidecar(
            upstream: upstream, directory: directory, Sidecar.Settings(top: "audit: {file: \(file)}"))
        try sidecar.awaitToken()
        func isOpen() throws -> Bool {
            let number = sidecar.bearerd.process.processID
            let links = try Subprocess.run(["/bin/sh", "-c", "readlink /proc/\(number)/fd/*"]).output
            return links.contains("/audit.log")
        }
        #expect(try isOpen())
        let client = try sidecar.client()
        try client.send("GET", "/slow", [("Connection", "close")])
        try upstream.request(1)
        try sidecar.reload(to: Sidecar.Settings())
        #expect(try sidecar.get("/unaudited").status == 200)
        #expect(try isOpen(), "a request that began with it has not ended")
        gate.open()
        #expect(try client.wire.readResponse(to: "GET").status == 200)
        let lines = try Self.lines(of: file, count: 1)
        #expect(lines.map { $0["path"].string } == ["/slow"])
        unlink(file)
        try eventually("the file to be closed") { try !isOpen() }
        try sidecar.reload(to: Sidecar.Settings(top: "audit: {file: \(file)}"))
        #expect(try sidecar.get("/again").status == 200)
        #expect(try Self.lines(of: file, count: 1)[0]["path"].string == "/again")
        try sidecar.reload(to: Sidecar.Settings())
        try eventually("the file to be closed again") { try !isOpen() }
    }

    /// A sidecar whose audit could not be written for sixty requests, because its disk is full.
    private static func onFullDisk() throws -> (disk: SmallDisk, file: String, sidecar: Sidecar) {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("logs"))
        let file = directory.path("logs/audit.log")
        let sidecar = try Sidecar(directory: directory, Sidecar.Settings(top: "audit: {file: \(file)}"))
        try sidecar.awaitToken()
        disk.fill()
        for index in 0..<60 { #expect(try sidecar.get("/\(index)").status == 200) }
        try sidecar.bearerd.logLine("that the audit cannot be written") { $0["level"] == "error" }
        return (disk, file, sidecar)
    }

    @Test(.needs(.smallDisk))
    func `that a reload takes away on a full disk is closed, whatever it lacks`() throws {
        let (disk, _, sidecar) = try Self.onFullDisk()
        defer { withExtendedLifetime(disk) {} }
        try sidecar.reload(to: Sidecar.Settings())
        let number = sidecar.bearerd.process.processID
        try eventually("the file to be closed") {
            try !Subprocess.run(["/bin/sh", "-c", "readlink /proc/\(number)/fd/*"]).output.contains(
                "/audit.log")
        }
        #expect(try sidecar.metrics().sum("bearerd_audit_lines_dropped_total") > 0)
    }

    @Test(.needs(.smallDisk))
    func `keeps its lines while the disk is full, and says so once`() throws {
        let (disk, file, sidecar) = try Self.onFullDisk()
        disk.makeRoom()
        let lines = try Self.lines(of: file, count: 60)
        // Each worker gathers its own.
        #expect(lines.count == 60 && Set(lines.map { $0["path"].string }) == Set((0..<60).map { "/\($0)" }))
        try sidecar.bearerd.logLine("that it is written again") {
            $0["message"] == "the audit is written again"
        }
        #expect(try sidecar.metrics().sum("bearerd_audit_lines_dropped_total") == 0)
        #expect(sidecar.bearerd.log.split(separator: "\n").count { $0.contains("audit cannot be") } == 1)
    }

    @Test func `that cannot be opened ends the start with 73`() throws {
        let directory = try TemporaryDirectory()
        for path in [directory.path("no/such/audit.log"), directory.path(".")] {
            let provider = try HostileProvider()
            let configuration = try Sidecar.file(
                provider: provider, directory: directory, Sidecar.Settings(top: "audit: {file: \(path)}"))
            let result = try BearerdProcess.command("run", "-c", configuration)
            #expect(result.exit == 73)
            #expect(result.errors.contains("audit.file: \(path)"), "\(result.errors)")
        }
    }

    /// What may be in the place of the file.
    enum Obstacle: CaseIterable {
        case link, othersFile, readableFile, pipe
    }

    private static func put(_ obstacle: Obstacle, at path: String, in directory: TemporaryDirectory) throws {
        switch obstacle {
        case .link:
            let target = try directory.write("target", "")
            chmod(target, 0o600)
            symlink(target, path)
        case .othersFile:
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            chown(path, 12345, 0)
        case .readableFile:
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            chmod(path, 0o640)
        case .pipe: mkfifo(path, 0o600)
        }
    }

    @Test(.needs(.root), arguments: Obstacle.allCases)
    func `is not written where others may have put it, or may read it`(obstacle: Obstacle) throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("audit.log")
        try Self.put(obstacle, at: file, in: directory)
        let configuration = try Sidecar.file(
            provider: try HostileProvider(), directory: directory,
            Sidecar.Settings(top: "audit: {file: \(file)}"))
        let result = try BearerdProcess.command("run", "-c", configuration)
        #expect(result.exit == 73 && result.errors.contains("audit.file: \(file) "), "\(result.errors)")
        unlink(file)
        let sidecar = try Sidecar(directory: directory, Sidecar.Settings(top: "audit: {file: \(file)}"))
        try sidecar.awaitToken()
        rename(file, file + ".1")
        try Self.put(obstacle, at: file, in: directory)
        let reload = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 422 && reload.text.contains("audit.file"), "\(reload.text)")
        #expect(try sidecar.get("/on").status == 200)
        #expect(try Self.lines(of: file + ".1", count: 1)[0]["path"].string == "/on")
    }

    @Test func `that a refused reload would have made is not left behind`() throws {
        let directory = try TemporaryDirectory()
        let provider = try HostileProvider()
        let (first, second) = (directory.path("first.log"), directory.path("second.log"))
        let sidecar = try Sidecar(
            provider: provider, directory: directory, Sidecar.Settings(top: "audit: {file: \(first)}"))
        let holder = try RawServer { _ in }
        func reload() throws -> RawResponse {
            try Sidecar.file(
                provider: provider, directory: directory,
                Sidecar.Settings(
                    top: "audit: {file: \(second)}", listen: "[\"127.0.0.1:0\", \"\(holder.address)\"]"))
            return try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        }
        let refused = try reload()
        #expect(refused.status == 422 && refused.text.contains("\(holder.address)"), "\(refused.text)")
        #expect(access(second, F_OK) != 0)
        try directory.write("second.log", "kept\n")
        chmod(second, 0o600)
        #expect(try reload().status == 422)
        #expect(TemporaryDirectory.contents(of: second) == Array("kept\n".utf8))
    }

    @Test func `may be the standard output, whatever that is`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(top: "audit: {file: /dev/stdout}"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/one").status == 200)
        let line = try sidecar.bearerd.process.output.wait(for: "a line") { capture in
            capture.text.split(separator: "\n").first.flatMap { TestJSON(parsing: $0) }
        }
        #expect(line["path"].string == "/one")
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        #expect(try sidecar.get("/two").status == 200)
        try sidecar.bearerd.process.output.wait(for: "another line") { $0.text.contains("/two") ? () : nil }
    }

    /// The lines of a file, once it has so many.
    private static func lines(of file: String, count: Int) throws -> [TestJSON] {
        var lines: [Substring] = []
        try eventually("\(count) lines in \(file)") {
            let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
            lines = text.hasSuffix("\n") ? text.split(separator: "\n") : []
            return lines.count >= count
        }
        return try lines.map { try #require(TestJSON(parsing: $0)) }
    }
}
