// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd healthcheck`.
@Suite(.blocking) struct `A health check` {
    /// A configuration whose admin listener is at `admin`, kept for as long as the directory is.
    private func configured(_ admin: Address) throws -> (TemporaryDirectory, String) {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory
        ).asking(admin)
        return (directory, try directory.write("config.yaml", text))
    }

    /// A daemon that is alive, and says `readiness` of itself.
    private func daemon(_ readiness: Reply) throws -> RawServer {
        try RawServer { wire in
            while let request = try wire.readRequest() {
                let isHealth = request.head.target == "/healthz"
                guard try (isHealth ? .json("ok") : readiness).send(to: wire) else { return }
            }
        }
    }

    @Test func `a daemon that lives is ok, and one with all its tokens is ready`() throws {
        let server = try daemon(.json(#"{"ready":true,"reasons":[]}"#))
        let (directory, file) = try configured(server.address)
        let life = try BearerdProcess.command("healthcheck", "-c", file)
        #expect(life.exit == 0 && life.output == "ok\n" && life.errors.isEmpty, "\(life.errors)")
        let ready = try BearerdProcess.command("healthcheck", "--ready", "-c", file)
        #expect(ready.exit == 0 && ready.output == "ready\n" && ready.errors.isEmpty, "\(ready.errors)")
        _ = directory
    }

    @Test func `one that misses a token lives, but is not ready, and says why in one line`() throws {
        let body = #"{"reasons":[{"reason":"no_token","identity":"default","state":"login_required"}]}"#
        let server = try daemon(.json(body, status: 503))
        let (directory, file) = try configured(server.address)
        #expect(try BearerdProcess.command("healthcheck", "-c", file).exit == 0)
        let ready = try BearerdProcess.command("healthcheck", "--ready", "-c", file)
        #expect(ready.exit == 69 && ready.output.isEmpty)
        #expect(ready.errors.contains("default is login_required"), "\(ready.errors)")
        #expect(ready.errors.split(separator: "\n").count == 1)
        _ = directory
    }

    @Test func `no daemon, or one that stands still, is 69`() throws {
        let (holder, refusing) = try Socket.refusing()
        let silent = try RawServer { wire in while try wire.readRequest() != nil {} }
        for address in [refusing, silent.address] {
            let (directory, file) = try configured(address)
            let result = try BearerdProcess.command("healthcheck", "-c", file)
            #expect(result.exit == 69 && result.output.isEmpty, "\(result.output)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            #expect(result.errors.contains("\(address)"), "\(result.errors)")
            _ = directory
        }
        _ = holder
    }

    @Test func `a real daemon is asked by its configuration`() throws {
        let sidecar = try Sidecar()
        let (directory, file) = try configured(sidecar.bearerd.admin)
        #expect(try sidecar.get().status == 200)
        #expect(try BearerdProcess.command("healthcheck", "--ready", "-c", file).exit == 0)
        _ = directory
    }
}
