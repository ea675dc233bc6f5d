// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Commands beside a daemon whose admin listener is at an address that no file tells.
@Suite(.blocking) struct `A daemon whose admin listener cannot be found` {
    @Test(arguments: ["127.0.0.1:0", "systemd:admin", "fd:3"])
    func `is not said to be away`(listen: String) throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let file = try Sidecar.file(provider: provider, directory: directory, .init(adminListen: listen))
        let reason = "only the daemon knows where admin.listen (\(listen)) is"
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(status.exit == 0 && status.output.hasPrefix("not asked: \(reason)"), "\(status)")
        for (exit, words) in [(Int32(0), ["doctor", "--check", "daemon"]), (69, ["reload"]), (78, ["wait"])] {
            let result = try BearerdProcess.command(words + ["-c", file])
            #expect(result.exit == exit && (result.output + result.errors).contains(reason), "\(result)")
        }
        try Sidecar.file(
            provider: provider, directory: directory, .init(adminListen: listen, store: "type: memory"))
        for command in ["status", "refresh"] {
            let result = try BearerdProcess.command(command, "-c", file)
            #expect(result.exit == 77 && result.errors.contains(reason), "\(result)")
        }
    }

    @Test func `is told by its data listener`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let proxy = try sidecar.bearerd.proxy
        let file = try sidecar.directory.write(
            "asked.yaml",
            "listen: \(proxy)\nadmin: {listen: \"127.0.0.1:0\"}\n"
                + "routes: [{upstream: https://a.example, identity: none}]\n"
                + "store: {type: file, directory: \(sidecar.storeDirectory)}\n")
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(
            status.exit == 0 && status.output.contains("has \(proxy) (listen)\n"),
            "\(status)")
        #expect(!status.output.contains("restart it"), "\(status)")
    }
}
