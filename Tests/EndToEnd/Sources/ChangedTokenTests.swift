// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `source: static`: the many ways in which somebody else renews a token.
@Suite(.blocking) struct `A token that somebody else renews` {
    @Test func `is seen behind a link that is turned to another directory beside the one before`() throws {
        let directory = try TemporaryDirectory()
        let (place, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
        for path in ["app", "app/r1", "app/r2"] { mkdir(place.path(path), 0o700) }
        try place.write("app/r1/token", "first-token")
        try place.write("app/r2/token", "second-token")
        try elsewhere.write("token", "third-token")
        func turn(to target: String) {
            symlink(target, place.path("app/next"))
            rename(place.path("app/next"), place.path("app/current"))
        }
        turn(to: place.path("app/r1"))
        let site = try SourceSite(
            identity: "source: static\ntoken_file: \(place.path("app/current/token"))",
            admin: "\(try Socket.refusing().address)", directory: directory)
        try site.awaitToken("first-token")
        turn(to: place.path("app/r2"))
        try site.awaitToken("second-token")
        turn(to: elsewhere.path)
        guard site.bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else { return }
        // Nothing could be known of this place at the start.
        try eventually("the advice") {
            try site.status()["last_error"]["detail"].string?.hasSuffix("restart bearerd") == true
        }
        #expect(site.bearerd.log.contains("sandbox hides"))
        let file = directory.path("config.yaml")
        let doctor = try BearerdProcess.command("doctor", "-c", file)
        #expect(doctor.exit == 69 && doctor.output.contains("mend: restart bearerd\n"), "\(doctor)")
        let reload = try BearerdProcess.command("reload", "-c", file)
        #expect(reload.exit == 78 && reload.errors.contains("sandbox hides"), "\(reload)")
        #expect(try site.get().status == 200)
    }

    @Test func `is seen in a directory that was removed and made anew, if it is alone in its parent`() throws
    {
        let (directory, place) = (try TemporaryDirectory(), try TemporaryDirectory())
        mkdir(place.path("secrets"), 0o700)
        mkdir(place.path("secrets/app"), 0o700)
        try place.write("secrets/app/token", "first-token")
        let site = try SourceSite(
            identity: "source: static\ntoken_file: \(place.path("secrets/app/token"))", directory: directory)
        try site.awaitToken("first-token")
        for token in ["second-token", "third-token"] {
            unlink(place.path("secrets/app/token"))
            rmdir(place.path("secrets/app"))
            try eventually("the loss to be seen") { try site.state() == "misconfigured" }
            mkdir(place.path("secrets/app"), 0o700)
            try place.write("secrets/app/token", token)
            try site.awaitToken(token)
        }
    }

    @Test func `is hidden in a directory that was made anew beside others, and the remedy is told`() throws {
        let (directory, place) = (try TemporaryDirectory(), try TemporaryDirectory())
        for path in ["secrets", "secrets/app", "secrets/other"] { mkdir(place.path(path), 0o700) }
        try place.write("secrets/app/token", "first-token")
        let site = try SourceSite(
            identity: "source: static\ntoken_file: \(place.path("secrets/app/token"))", directory: directory)
        try site.awaitToken("first-token")
        guard site.bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else { return }
        rename(place.path("secrets/app"), place.path("secrets/old"))
        mkdir(place.path("secrets/app"), 0o700)
        try place.write("secrets/app/token", "second-token")
        try eventually("the advice") {
            try site.status()["last_error"]["detail"].string?.hasSuffix("restart bearerd") == true
        }
        #expect(try site.get().status == 200)
        #expect(site.upstream.tokens.last == "first-token")
    }

    @Test func `is seen in a directory beside another one that a link led to at the start`() throws {
        let directory = try TemporaryDirectory()
        for path in ["app", "store", "store/v1", "store/v2"] { mkdir(directory.path(path), 0o700) }
        try directory.write("store/v1/token", "first-token")
        try directory.write("store/v2/token", "second-token")
        symlink("../store/v1", directory.path("app/current"))
        let site = try SourceSite(
            identity: "source: static\ntoken_file: app/current/token", directory: directory)
        try site.awaitToken("first-token")
        symlink("../store/v2", directory.path("app/next"))
        rename(directory.path("app/next"), directory.path("app/current"))
        try site.awaitToken("second-token")
    }

    @Test func `is seen once its mode is mended, and behind an old time of writing`() throws {
        let site = try SourceSite(token: "first-token")
        try site.awaitToken("first-token")
        let path = site.directory.path("token")
        var old = stat()
        stat(path, &old)
        let file = open(path, O_WRONLY | O_TRUNC)
        write(file, "other-token", 11)
        let times = [old.st_atim, old.st_mtim]
        futimens(file, times)
        close(file)
        try site.awaitToken("other-token")
        chmod(path, 0o622)
        try eventually("the complaint") {
            try site.status()["last_error"]["detail"].string?.contains("chmod go-w") == true
        }
        #expect(
            try isOnce(within: .milliseconds(1000)) { begin in
                chmod(path, 0o622)
                try eventually("the complaint") { try site.state() == "misconfigured" }
                begin()
                chmod(path, 0o600)
                try eventually("it to be well") { try site.state() == "authorized" }
            })
    }

    @Test func `that the upstream refuses is read again each time, and sent again if it is another one`()
        throws
    {
        let accepted = Monitor("token-1")
        let upstream = try RawUpstream { request in
            request["Authorization"] == "Bearer \(accepted.withLock { $0 })" ? .ok() : .unauthorized
        }
        let site = try SourceSite(token: "token-1", upstream: upstream)
        #expect(try site.get().status == 200)
        for number in 2...6 {
            accepted.withLock { $0 = "token-\(number)" }
            try site.directory.write("token", "token-\(number)")
            #expect(try site.get().status == 200, "\(number)")
        }
        accepted.withLock { $0 = "nothing" }
        let before = upstream.tokens.count
        for _ in 0..<3 { #expect(try site.get().status == 401) }
        #expect(upstream.tokens.count == before + 3, "the same token is sent once")
        #expect(try site.state() == "authorization_error")
        let refresh = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        #expect(refresh.status < 300)
        #expect(try site.state() == "authorization_error", "the very token that was refused")
        accepted.withLock { $0 = "token-7" }
        try site.directory.write("token", "token-7")
        try eventually("the other token") { try site.get().status == 200 && site.state() == "authorized" }
        #expect(
            site.bearerd.logLines.contains { $0.message == "the source gives the refused token once more" })
    }
}
