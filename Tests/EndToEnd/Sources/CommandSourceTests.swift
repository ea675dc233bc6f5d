// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `source: command`: a program prints the token.
@Suite(.blocking) struct `A token that a command prints` {
    /// A program beside the configuration; what it writes into files there is seen by the test.
    private func directory(_ script: String) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try directory.write("print", "#!/bin/sh\ncd \"${0%/*}\"\n\(script)\n", mode: 0o700)
        return directory
    }

    private func site(
        _ script: String, more: String = "", top: String = "", upstream: RawUpstream? = nil,
        environment: [String: String] = [:]
    ) throws -> SourceSite {
        try SourceSite(
            identity: "source: command\ncommand: [./print, 'two words', '$HOME;*']\n\(more)", top: top,
            directory: try directory(script), upstream: upstream, environment: environment)
    }

    private func text(_ name: String, in directory: TemporaryDirectory) -> String {
        String(decoding: TemporaryDirectory.contents(of: directory.path(name)), as: UTF8.self)
    }

    private func isAlive(_ process: String) -> Bool {
        guard let number = pid_t(process.split(separator: "\n").first ?? "") else { return false }
        let status = String(decoding: TemporaryDirectory.contents(of: "/proc/\(number)/stat"), as: UTF8.self)
        return kill(number, 0) == 0 && !status.contains(") Z ")
    }

    /// Returns true once the process whose number is in a file has ended; false where there is no number yet.
    private func hasRun(_ name: String, in directory: TemporaryDirectory) -> Bool {
        let number = text(name, in: directory)
        return number.hasSuffix("\n") && !isAlive(number)
    }

    @Test(arguments: [
        #"{"access_token":"printed-token-1","expires_in":600}"#,
        #"{"access_token":"printed-token-1","expires_at":"\#(SourceTexts.moment(in: 900))","token_type":"bearer"}"#,
        #"{"access_token":"printed-token-1","expires_at":\#(time(nil) + 900)}"#,
        #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"printed-token-1","expirationTimestamp":"\#(SourceTexts.moment(in: 900))"}}"#,
        #"{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"printed-token-1"}}"#,
    ])
    func `is sent, and shown nowhere`(_ document: String) throws {
        let site = try site("cat <<'E'\n\(document)\nE")
        #expect(try site.get().status == 200)
        #expect(site.upstream.tokens == ["printed-token-1"])
        #expect(try site.state() == "authorized")
        #expect(try site.requests("command") == 1)
        #expect(try site.status()["expires_at"] != .null)
        #expect(LeakScan.leaks(of: ["printed-token-1"], in: try site.everythingShown()).isEmpty)
        #expect(try site.command("token").output == "printed-token-1\n")
    }

    @Test func `comes of a program with its arguments as they are, five variables, and nothing else of ours`()
        throws
    {
        let site = try site(
            """
            env > environment; printf '%s|' "$@" > arguments; ls -l /proc/self/fd > descriptors
            head -c1 > input; cat /proc/self/status > status
            echo '{"access_token":"printed-token-2","expires_in":600}'
            """,
            environment: ["LANG": "C.UTF-8", "TZ": "UTC", "API_PASSWORD": "hidden-word", "HOME": "/nowhere"])
        #expect(try site.get().status == 200)
        let directory = site.directory
        #expect(text("arguments", in: directory) == "two words|$HOME;*|")
        let names = text("environment", in: directory).split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(
            Set(names).isSubset(of: ["PATH", "HOME", "USER", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_"]))
        #expect(!text("environment", in: directory).contains("hidden-word"))
        #expect(text("input", in: directory).isEmpty)
        let descriptors = text("descriptors", in: directory)
        #expect(!descriptors.contains("socket:"))
    }

    @Test func `is run outside of the sandbox`() throws {
        let place = try TemporaryDirectory()
        let site = try site(
            "echo x > \(place.path("written")); echo '{\"access_token\":\"printed-token-3\"}'")
        #expect(try site.get().status == 200)
        #expect(text("written", in: place) == "x\n")
    }

    @Test func `is one for all who wait`() throws {
        let site = try site(
            "echo run >> runs; sleep 1; echo '{\"access_token\":\"printed-token-4\",\"expires_in\":600}'")
        #expect(try concurrently(20) { _ in try site.get().status } == Array(repeating: 200, count: 20))
        #expect(text("runs", in: site.directory) == "run\n")
    }

    @Test(arguments: [
        ("exit 3", "exited with 3"), ("kill -9 $$", "signal 9"), ("exec sleep 600", "killed after 500 ms"),
        ("cat /dev/zero", "printed more than"), ("yes | head -c 1048577", "printed more than"),
        ("echo no json", "no JSON object"), ("echo '{\"access_token\":7}'", "access token"),
        ("echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"x/v9\"}'", "ExecCredential"),
        ("echo '{\"access_token\":\"a b\"}'", "bytes"),
        ("echo '{\"access_token\":\"x\",\"expires_at\":\"2001-01-01T00:00:00Z\"}'", "expired"),
        ("echo '{\"access_token\":\"x\",\"token_type\":\"mac\"}'", "token_type"),
        ("printf '\\377\\000\\001{'; printf '\\033[31m\\377\\000bad' >&2", "no JSON object"),
        ("echo '{\"access_token\":\"x\"}'; exec >&- 2>&-; exec sleep 600", "killed after 500 ms"),
        ("(echo '{\"access_token\":\"x\"}'; sleep 600) & exit 7", "exited with 7"),
    ])
    func `that does not come is a transient failure that heals`(_ script: String, _ words: String) throws {
        // Where another end is expected, no time-out may come before it.
        let limit = words.hasPrefix("killed after") ? "500ms" : "1h"
        let site = try site("[ -e well ] && exec cat well\n\(script)", more: "timeout: \(limit)")
        #expect(try site.get().json["code"].string == "idp_unavailable")
        try eventually("last_error to have: \(words)") {
            try site.status()["last_error"]["detail"].string?.contains(words) == true
        }
        #expect(try site.requests("command", "transient") >= 1)
        try site.directory.write("well", #"{"access_token":"well-token"}"#)
        try eventually("the next run") { try site.get().status == 200 }
    }

    @Test func `tells the beginning of standard error, and no token`() throws {
        let site = try site(
            """
            echo '{"access_token":"leaked-token-5"'
            if [ -e quiet ]; then printf 'not logged in: run\\033[31m the login\\n' >&2
            else echo "got leaked-token-5, and \(String(repeating: "word ", count: 200))" >&2; fi
            exit 4
            """)
        #expect(try site.get().status == 503)
        try eventually("the exit code") {
            try site.status()["last_error"]["detail"].string?.contains("exited with 4") == true
        }
        try site.directory.write("quiet", "")
        try eventually("the words") {
            try site.status()["last_error"]["detail"].string?.contains("not logged in: run") == true
        }
        let shown = try site.everythingShown()
        #expect(!shown.contains("leaked-token-5") && !shown.contains("\u{1B}"))
        for line in site.bearerd.logLines { #expect((line["reason"] ?? "").utf8.count < 600) }
    }

    @Test(arguments: [
        (
            #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"TOKEN"}}"#,
            "supersecretlowercase"
        ),
        (
            #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"TOKEN"}}"#,
            "Sh0rt-t"
        ),
        (#"{"access_token":"TOKEN"}"#, "q7"), (#"{"token":"TOKEN"}"#, "supersecretlowercasetoken"),
        ("TOKEN", "plainlowertoken"), ("TOKEN", "tiny"), (#"{"access_token":"TOKEN""#, "cutoff"),
    ])
    func `hides what it printed, in whatever form`(_ output: String, _ token: String) throws {
        let site = try site(
            """
            [ -e other ] && { echo 'please log in' >&2; exit 5; }
            echo '\(output.replacing("TOKEN", with: token))'; echo "bad \(token) refused" >&2; exit 1
            """)
        #expect(try site.get().status == 503)
        try eventually("the exit code") {
            try site.status()["last_error"]["detail"].string?.contains("exited with 1") == true
        }
        #expect(try site.status()["last_error"]["detail"].string?.contains("refused") == false)
        #expect(try !site.everythingShown().contains("bad \(token)"))
        try site.directory.write("other", "")
        try eventually("harmless words") {
            try site.status()["last_error"]["detail"].string?.contains("please log in") == true
        }
    }

    @Test func `hides the short token that is in use`() throws {
        let site = try site(
            """
            if [ -e failing ]; then echo "bad short7 refused" >&2; exit 1; fi
            echo '{"access_token":"short7","expires_in":600}'
            """)
        #expect(try site.get().status == 200)
        try site.directory.write("failing", "")
        _ = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        try eventually("the failure") { try site.status()["last_error"] != .null }
        #expect(try !site.everythingShown().contains("bad short7"))
    }

    @Test func `flooding standard error is no failure`() throws {
        let site = try site("yes error | head -c 3000000 >&2; echo '{\"access_token\":\"printed-token-6\"}'")
        #expect(try site.get().status == 200)
    }

    @Test func `counts when the program exits, whoever still holds its output, and its group ends with it`()
        throws
    {
        let site = try site(
            """
            sh -c 'echo $$ > child; exec sleep 600' & sh -c 'echo $$ > other; exec setsid sleep 5' &
            while [ ! -s child ] || [ ! -s other ]; do :; done
            echo '{"access_token":"printed-token-7","expires_in":600}'
            """, more: "timeout: 20s")
        #expect(try site.get().status == 200)
        try eventually("the child to be gone") { !isAlive(text("child", in: site.directory)) }
    }

    @Test func `ends with its group at the time-out, and with the daemon`() throws {
        let site = try site(
            "echo $$ > parent; sh -c 'echo $$ > child; exec sleep 600' & wait", more: "timeout: 700ms")
        #expect(try site.get().status == 503)
        // A run that is killed before it has written both is followed by others.
        try eventually("both to have run, and to be gone") {
            hasRun("child", in: site.directory) && hasRun("parent", in: site.directory)
        }
        let long = try self.site(
            "echo $$ > parent; sh -c 'echo $$ > child; exec sleep 600' & wait", more: "timeout: 10m")
        try eventually("both to run") {
            isAlive(text("child", in: long.directory)) && isAlive(text("parent", in: long.directory))
        }
        long.bearerd.process.signal(SIGKILL)
        try eventually("both to be gone with the daemon") {
            !isAlive(text("child", in: long.directory)) && !isAlive(text("parent", in: long.directory))
        }
    }

    @Test func `is asked of no shell where the program is none and names no interpreter`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("print", "echo '{\"access_token\":\"shell-token\"}'\n", mode: 0o700)
        let site = try SourceSite(identity: "source: command\ncommand: [./print]", directory: directory)
        #expect(try site.get().status == 503)
        try eventually("the reason") {
            try site.status()["last_error"]["detail"].string?.contains("does not begin with #!") == true
        }
    }

    @Test(.needs(Needs(orElse: "there is no Perl") { access("/usr/bin/perl", X_OK) == 0 }))
    func `ends at the time-out also where it has left its group`() throws {
        let site = try site(
            """
            echo $$ > parent
            exec /usr/bin/perl -e 'setpgrp(0, getpgrp(getppid())) or die; open(F, ">", "moved"); print F "x"; close(F); sleep(600)'
            """, more: "timeout: 2s")
        #expect(try site.get().status == 503)
        try eventually("it to have left its group, and to be gone") {
            text("moved", in: site.directory) == "x" && hasRun("parent", in: site.directory)
        }
        try eventually("the time-out to be told") {
            try site.status()["last_error"]["detail"].string?.contains("killed after 2000 ms") == true
        }
    }

    @Test func `is not waited for by a drain`() throws {
        let site = try site(
            "echo $$ > parent; exec sleep 600", more: "timeout: 1h", top: "shutdown: {grace: 1h}")
        try eventually("the program to run") { isAlive(text("parent", in: site.directory)) }
        #expect(try site.bearerd.terminate() == .exited(0))
        try eventually("the program to be gone") { !isAlive(text("parent", in: site.directory)) }
    }

    private func reload(_ site: SourceSite, to identity: String, top: String) throws {
        try site.directory.write(
            "config.yaml",
            SourceSite.configuration(identity: identity, top: top, upstream: site.upstream.url))
        let reload = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")], body: "")
        #expect(reload.status < 300, "\(reload.text)")
    }

    /// Neither heeds SIGTERM; the program tells that it came.
    private static let stubborn = """
        trap 'echo told >> told' TERM; echo $$ > parent
        sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 600; done' &
        while :; do wait; done
        """

    @Test(arguments: ["source: static\ntoken_file: token", "source: command\ncommand: [./print, other]"])
    func `ends with its group once a reload takes its source away and nobody waits for it`(
        _ next: String
    ) throws {
        // A machine that is busy may let the second pass before the program could tell that it was told.
        for _ in 1...5 where try ends(at: next) { return }
        Issue.record("the program was never told before it was killed")
    }

    /// Has a reload take away the source of two stubborn programs.
    ///
    /// - Returns: true if one of them was told to end before both were killed.
    private func ends(at next: String) throws -> Bool {
        // Were it not told to end, it would run on for the time that a request may wait.
        let top = "timeouts: {token_wait: 1h}"
        let site = try site(
            "[ \"$1\" = other ] && { echo '{\"access_token\":\"other-token\"}'; exit; }\n\(Self.stubborn)",
            more: "timeout: 1h", top: top)
        let directory = site.directory
        try eventually("both to run") {
            isAlive(text("child", in: directory)) && isAlive(text("parent", in: directory))
        }
        try directory.write("token", "other-token")
        try reload(site, to: next, top: top)
        try eventually("both to be gone") {
            !isAlive(text("child", in: directory)) && !isAlive(text("parent", in: directory))
        }
        try site.awaitToken("other-token")
        #expect(try site.bearerd.terminate() == .exited(0))
        #expect(!site.bearerd.log.contains("was given up"))
        return text("told", in: directory) == "told\n"
    }

    @Test func `that is waited for in vain by token names the command and the time`() throws {
        let directory = try directory("echo $$ > \"$1\"; exec sleep 600")
        // Its own program writes a file of its own, if it comes so far.
        let file = try directory.write(
            "config.yaml",
            SourceSite.configuration(
                identity: "source: command\ncommand: [./print, own]\ntimeout: 1h",
                top: "timeouts: {token_wait: 300ms}"))
        let answer = try BearerdProcess.command("token", "-c", file)
        #expect(answer.exit == 69 && answer.output.isEmpty, "\(answer)")
        #expect(
            answer.errors.contains(
                "the command \(directory.path("print")) has not answered within 0.3 s (timeouts.token_wait)"
            ), "\(answer.errors)")
        try eventually("the program to be gone") { !isAlive(text("own", in: directory)) }
    }

    @Test func `cannot come once somebody has killed the process that starts programs, which it tells`()
        throws
    {
        let site = try site("echo '{\"access_token\":\"printed-token-9\",\"expires_in\":600}'")
        #expect(try site.get().status == 200)
        let daemon = site.bearerd.process.processID
        let children = TemporaryDirectory.contents(of: "/proc/\(daemon)/task/\(daemon)/children")
        let helper = try #require(
            String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }.first {
                TemporaryDirectory.contents(of: "/proc/\($0)/comm") == Array("bearerd-command\n".utf8)
            })
        kill(helper, SIGKILL)
        try eventually("it to be gone") { !isAlive("\(helper)") }
        _ = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        let detail = try site.status()["last_error"]["detail"].string ?? ""
        #expect(
            detail.contains("cannot be started") && detail.contains("was killed; restart bearerd"),
            "\(detail)")
        #expect(try site.get().status == 200, "the token lives on")
    }

    @Test func `is asked for again at a 401, and sent once more if it is another one`() throws {
        let upstream = try RawUpstream { $0["Authorization"] == "Bearer token-2" ? .ok() : .unauthorized }
        let site = try site(
            "echo run >> runs; echo \"{\\\"access_token\\\":\\\"token-$(wc -l < runs | tr -d ' ')\\\",\\\"expires_in\\\":600}\"",
            upstream: upstream)
        #expect(try site.get().status == 200)
        #expect(upstream.tokens == ["token-1", "token-2"])
    }

    @Test func `is shown by check, which misses a program that is not there`() throws {
        let site = try site("echo '{\"access_token\":\"printed-token-8\"}'")
        let check = try site.command("check")
        #expect(
            check.exit == 0 && check.output.contains("two words")
                && check.output.contains(site.directory.path("print")))
        let json = try site.command("check", "--json")
        #expect(json.output.contains("\"$HOME;*\""))
        try site.directory.write("plain", "#!/bin/sh\n", mode: 0o600)
        for (command, words) in [
            ("[/nowhere/program]", "is not there"), ("[no-such-program-here]", "no directory of PATH"),
            ("[]", "needs a program"), ("['']", "needs a program"), ("print", "list"),
            ("[/tmp]", "/tmp is a directory"), ("[./plain]", "lacks the permission to execute"),
        ] {
            let file = try site.directory.write(
                "other.yaml", SourceSite.configuration(identity: "source: command\ncommand: \(command)"))
            let check = try BearerdProcess.command("check", "-c", file)
            #expect(check.exit == 78 && check.errors.contains(words), "\(command): \(check.errors)")
        }
    }

    @Test func `is restart_needed where a reload brings the first one, and no trouble later`() throws {
        let directory = try directory("echo '{\"access_token\":\"reloaded-token\"}'")
        try directory.write("token", "file-token")
        let site = try SourceSite(identity: "source: static\ntoken_file: token", directory: directory)
        let command = "source: command\ncommand: [./print]"
        try directory.write(
            "config.yaml", SourceSite.configuration(identity: command, upstream: site.upstream.url))
        let refused = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")], body: "")
        #expect(refused.status == 422 && refused.json["code"].string == "restart_needed")
        #expect(refused.text.contains("identities.default.command"))
        #expect(try site.get().status == 200)

        let other = try SourceSite(identity: command, directory: directory, upstream: site.upstream)
        #expect(try other.get().status == 200)
        let second = SourceSite.configuration(
            identity: "\(command)\ntimeout: 9s", upstream: site.upstream.url)
        try directory.write("config.yaml", second)
        let taken = try RawClient(to: other.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")], body: "")
        #expect(taken.status < 300, "\(taken.text)")
        try eventually("the new one") { try other.get().status == 200 }
    }
}
