// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Nothing that bearerd writes holds a byte of a token or secret.
@Suite(.blocking) struct `No secret leaks` {
    @Test func `in a hostile run with every log line turned on`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let count = Monitor(0)
        let upstream = try RawUpstream { request in
            switch count.withLock({ count in
                count += 1
                return count % 6
            }) {
            case 1: .unauthorized
            case 2: .close
            case 3: .raw("rubbish \(request["Authorization"] ?? "")\r\n\r\n", thenClose: true)
            case 4: .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", thenClose: true)
            default: .ok()
            }
        }
        let key = "key-" + randomText()
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream,
            .init(top: "log:\n  level: trace\ntimeouts:\n  token_wait: 500ms\naccess:\n  key: \(key)"))
        var written: [String] = []
        let mine = "mine-" + randomText()
        func ask(_ target: String = "/path?secret=\(mine)") throws {
            let fields = [
                ("X-Bearerd-Key", key), ("Authorization", "Bearer \(mine)"), ("Cookie", "a=\(mine)"),
            ]
            if let answer = try? sidecar.get(target, fields) {
                written.append(String(decoding: answer.raw, as: UTF8.self))
            }
        }
        for _ in 0..<12 { try ask() }
        let echoes: [HostileProvider.Answer] = [
            { request, _ in .oauthError(request["refresh_token"] ?? "x") },
            { request, _ in
                .json(#"{"error":"x","error_description":"\#(request["refresh_token"] ?? "")"}"#, status: 400)
            },
            { request, _ in
                .response(500, [("X-Echo", request.message["Authorization"] ?? "")], request.message.text)
            },
            { request, _ in .response(302, [("Location", "/?\(request.message.text)")]) },
            { _, provider in
                .json(
                    #"{"access_token":"\#(provider.makeAccessToken())\n","refresh_token":"\#(provider.makeRefreshToken())"}"#
                )
            },
            { _, provider in .json(#"["\#(provider.makeAccessToken())"]"#) },
        ]
        for echo in echoes {
            provider.script(echo)
            written.append(try sidecar.act("refresh").text)
            try ask()
        }
        try sidecar.act("invalidate")
        try ask()
        for target in ["/metrics", "/api/status", "/readyz", "/"] {
            written.append(String(decoding: try sidecar.admin("GET", target).raw, as: UTF8.self))
        }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        written.append(sidecar.bearerd.log)
        let secrets = provider.handedOut + [sidecar.clientSecret, key, mine]
        #expect(provider.handedOut.count > 10)
        for text in written {
            let leaks = LeakScan.leaks(of: secrets, in: text)
            #expect(leaks.isEmpty, "\(leaks) in \(text.prefix(2000))")
        }
    }

    @Test func `from memory into a core file`() throws {
        let sidecar = try Sidecar()
        // A process that is not dumpable belongs to root in /proc (proc(5)), whoever runs it.
        let status = String(
            decoding: TemporaryDirectory.contents(of: "/proc/\(sidecar.bearerd.process.processID)/limits"),
            as: UTF8.self)
        let result = try Subprocess.run([
            "/bin/sh", "-c", "id -u; stat -c %u /proc/\(sidecar.bearerd.process.processID)/mem",
        ])
        let lines = result.output.split(separator: "\n")
        #expect(lines.last == "0")
        if lines.first == "0" { #expect(!status.isEmpty) }
    }

    @Test func `in the error of a configuration with a secret in it`() throws {
        let directory = try TemporaryDirectory()
        let secret = "secret-" + randomText()
        let file = try directory.write(
            "c.yaml",
            """
            listen: [\(secret)]
            identities:
              default:
                issuer: https://sso.test
                client_id: a
                client_secret: [\(secret)]
                client_secert: \(secret)
                grant_type: client_credentials
            routes:
              - path: /
                upstream: https://api.test
                identity: default
            """)
        let result = try BearerdProcess.command("check", "-c", file)
        #expect(result.exit == 78 && !result.errors.contains("client_secret: \(secret)"))
        let inSecretKeys = result.errors.split(separator: "\n").filter { $0.contains("client_secret") }
        #expect(LeakScan.leaks(of: [secret], in: inSecretKeys.joined()).isEmpty)
    }
}
