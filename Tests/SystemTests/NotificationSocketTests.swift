// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

@testable import BearerdSystem

@Suite struct `The notification socket` {
    @Test(arguments: [false, true])
    func `carries each set of notices in one datagram`(isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let receiver = try NotificationReceiver(
            at: isAbstract ? "@bearerd-test-\(randomText())" : directory.path("notify"))
        let socket = try #require(try NotificationSocket(path: receiver.name))
        #expect(socket.send([.reloading, .status("one\ntwo")]) == .delivered)
        #expect(socket.send([.ready, .extendTimeout(.seconds(2))]) == .delivered)
        let first = try receiver.notice("the reload") { $0["RELOADING"] == "1" }
        #expect(first["MONOTONIC_USEC"].flatMap(Int.init) ?? 0 > 0)
        #expect(first["STATUS"] == "one two")
        let second = try receiver.notice("the end of it") { $0["READY"] == "1" }
        #expect(second["EXTEND_TIMEOUT_USEC"] == "2000000")
    }

    @Test func `finds a manager that was started anew, and tells when nobody is there`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("notify")
        var receiver: NotificationReceiver? = try NotificationReceiver(at: path)
        let socket = try #require(try NotificationSocket(path: path))
        receiver = nil
        let lost = socket.send([.alive])
        #expect(lost != .delivered && lost != .busy)
        unlink(path)
        receiver = try NotificationReceiver(at: path)
        #expect(socket.send([.alive]) == .delivered)
        try receiver?.notice("a sign of life") { $0["WATCHDOG"] == "1" }
    }

    @Test func `blocks nobody when the manager does not read`() throws {
        let directory = try TemporaryDirectory()
        let full = try NotificationReceiver(at: directory.path("notify"), isReading: false)
        let socket = try #require(try NotificationSocket(path: full.name))
        var delivery = NotificationSocket.Delivery.delivered
        for _ in 0..<10_000 where delivery == .delivered { delivery = socket.send([.alive]) }
        #expect(delivery == .busy)
    }

    @Test(arguments: ["", "relative", "@", "/" + String(repeating: "x", count: 120)])
    func `is none where the variable names no socket`(path: String) throws {
        #expect(try NotificationSocket(path: path) == nil)
    }
}
