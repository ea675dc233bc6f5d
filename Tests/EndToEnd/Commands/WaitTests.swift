// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd wait`.
@Suite(.blocking) struct `Waiting` {
    /// A free port that stays reserved, so that the configuration can name it.
    private func configured(_ admin: Address) throws -> (HostileProvider, TemporaryDirectory, String) {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory
        ).asking(admin)
        return (provider, directory, try directory.write("config.yaml", text))
    }

    private func answering(_ reply: Reply) throws -> RawServer {
        try RawServer { wire in
            while try wire.readRequest() != nil {
                guard try reply.send(to: wire) else { return }
            }
        }
    }

    @Test func `a ready daemon ends the wait`() throws {
        let server = try answering(.json(#"{"ready":true,"reasons":[]}"#))
        let (_, directory, file) = try configured(server.address)
        for arguments in [["wait"], ["wait", "--ready"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + arguments + ["-c", file])
            #expect(
                result.ending == .exited(0) && result.output.isEmpty && result.errors.isEmpty, "\(result)")
        }
        _ = directory
    }

    @Test func `a daemon that is not ready in time is 69, and says why`() throws {
        let body = #"{"reasons":[{"reason":"no_token","identity":"default","state":"login_required"}]}"#
        let server = try answering(.json(body, status: 503))
        let (_, directory, file) = try configured(server.address)
        // On a busy machine the last request may end with the time.
        let saysWhy = try (0..<5).contains { _ in
            let result = try BearerdProcess.command("wait", "--ready", "--timeout", "300ms", "-c", file)
            #expect(result.exit == 69)
            return result.errors.contains("default is login_required")
        }
        #expect(saysWhy)
        _ = directory
    }

    @Test func `no time at all is enough to ask once`() throws {
        let body = #"{"reasons":[{"reason":"no_token","identity":"default","state":"login_required"}]}"#
        for (reply, exit) in [
            (Reply.json(body, status: 503), 69), (.json(#"{"ready":true,"reasons":[]}"#), 0),
        ] {
            let server = try answering(reply)
            let (_, directory, file) = try configured(server.address)
            let result = try BearerdProcess.command("wait", "--timeout", "0s", "-c", file)
            #expect(result.exit == exit, "\(result)")
            #expect(
                exit == 0 || result.errors == "bearerd: wait: not ready: default is login_required\n",
                "\(result)")
            _ = directory
        }
    }

    @Test func `no daemon, or a silent one, is 69 in time`() throws {
        let (holder, refusing) = try Socket.refusing()
        let silent = try answering(Reply { _ in true })
        for address in [refusing, silent.address] {
            let (_, directory, file) = try configured(address)
            let start = ContinuousClock.now
            let result = try BearerdProcess.command("wait", "--ready", "--timeout=300ms", "-c", file)
            #expect(result.exit == 69 && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            #expect(start.duration(to: .now) < .seconds(20))
            _ = directory
        }
        _ = holder
    }

    @Test func `wrong words are 64`() throws {
        let (_, directory, file) = try configured(Address("127.0.0.1:1")!)
        #expect(try BearerdProcess.command("wait", "--redy", "-c", file).exit == 64)
        #expect(try BearerdProcess.command("wait", "--ready", "--timeout", "soon", "-c", file).exit == 64)
        _ = directory
    }
}
