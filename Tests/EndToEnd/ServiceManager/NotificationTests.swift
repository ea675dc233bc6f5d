// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What `Type=notify` promises, seen from the manager's end (sd_notify(3)).
@Suite(.blocking) struct `The service manager` {
    @Test(arguments: [false, true])
    func `hears READY when the listeners are bound, and STOPPING when the end begins`(
        isAbstract: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        let receiver = try NotificationReceiver(
            at: isAbstract ? "@bearerd-test-\(randomText())" : directory.path("notify"))
        let sidecar = try Sidecar(directory: directory, environment: ["NOTIFY_SOCKET": receiver.name])
        let ready = try receiver.notice("READY") { $0["READY"] == "1" }
        #expect(ready["STATUS"]?.hasPrefix("serving") == true)
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        let stopping = try receiver.notice("STOPPING") { $0["STOPPING"] == "1" }
        #expect(stopping["STATUS"]?.hasPrefix("draining") == true)
        #expect(stopping["EXTEND_TIMEOUT_USEC"].flatMap(Int.init) ?? 0 > 0)
        #expect(receiver.notices.count { $0["READY"] == "1" } == 1)
    }

    @Test func `reads each identity's state in the status`() throws {
        let directory = try TemporaryDirectory()
        let receiver = try NotificationReceiver(at: directory.path("notify"))
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, directory: directory, environment: ["NOTIFY_SOCKET": receiver.name])
        try receiver.notice("the token") { $0["STATUS"]?.contains("default: authorized") == true }
        provider.always { _, _ in .oauthError("invalid_client", status: 401) }
        try sidecar.act("invalidate")
        try receiver.notice("the trouble") { $0["STATUS"]?.contains("default: misconfigured") == true }
    }

    @Test func `gets signs of life, and none while the process stands still`() throws {
        let directory = try TemporaryDirectory()
        let receiver = try NotificationReceiver(at: directory.path("notify"))
        let sidecar = try Sidecar(
            directory: directory,
            environment: ["NOTIFY_SOCKET": receiver.name, "WATCHDOG_USEC": "200000"])
        try receiver.notice("a sign of life") { $0["WATCHDOG"] == "1" }
        let first = receiver.notices.count
        try receiver.notice("another one", after: first) { $0["WATCHDOG"] == "1" }
        sidecar.bearerd.process.signal(SIGSTOP)
        let stopped = receiver.notices.count
        sidecar.bearerd.process.signal(SIGCONT)
        try receiver.notice("a sign after the pause", after: stopped) { $0["WATCHDOG"] == "1" }
    }

    @Test(arguments: ["/nonexistent/notify", "nonsense"])
    func `that is not there harms nothing`(name: String) throws {
        let sidecar = try Sidecar(environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000"])
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }
}
