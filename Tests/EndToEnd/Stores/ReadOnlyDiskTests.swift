// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What is told of a store that takes no writes at all, and what goes on without it.
@Suite(.blocking) struct `A read-only disk` {
    @Test(.needs(.smallDisk))
    func `is told where a logout counts in memory alone, and a restart undoes it`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar.importing(directory: directory, top: "shutdown: {grace: 2s}")
        try disk.makeReadOnly()
        let answer = try sidecar.act("logout")
        #expect(answer.json["store"].string?.contains("Read-only file system") == true, "\(answer.text)")
        let undone = "; a restart brings back the session that the store holds"
        #expect(try sidecar.state() == "login_required")
        #expect(try sidecar.lastErrorDetail().contains("Read-only file system" + undone))
        let local = try BearerdProcess.command("logout", "--local", "-c", directory.path("config.yaml"))
        #expect(local.exit == 74 && local.errors.contains("the store holds a session still"), "\(local)")

        #expect(try sidecar.bearerd.terminate() == .exited(1))
        #expect(!sidecar.bearerd.log.contains("\"a session is lost"))
        let line = try sidecar.bearerd.logLine("the loss") {
            $0.message
                == "the end of a session is lost: it was in memory alone, and the next start goes on with what the store holds"
        }
        #expect(line["identity"] == "default" && line["hint"]?.contains("log out again") == true)
    }

    @Test(.needs(.smallDisk))
    func `is told where nothing can be noted of a refresh token that is sent`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar.importing(directory: directory)
        #expect(!sidecar.bearerd.log.contains("takes no note"))
        try disk.makeReadOnly()
        #expect(try sidecar.act("refresh").status < 300)
        #expect(try sidecar.get().status == 200)
        let line = try sidecar.bearerd.logLine("the missing note") {
            $0.message.contains("takes no note that the refresh token is being sent")
        }
        #expect(line["reason"]?.contains("Read-only file system") == true, "\(line.json)")
    }
}
