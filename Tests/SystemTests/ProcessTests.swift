// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Glibc
import Testing

@Suite struct `The process` {
    @Test func `its numbers are plausible`() {
        let statistics = ProcessStatistics.current()
        #expect(statistics.residentBytes > 1 << 20)
        #expect(statistics.virtualBytes >= statistics.residentBytes)
        #expect(statistics.openDescriptors >= 3)
        #expect(statistics.maximumDescriptors >= statistics.openDescriptors)
        #expect(statistics.threads >= 1)
        #expect(statistics.cpuSeconds >= 0)
        #expect(abs(WallClock.secondsSinceEpoch - statistics.startSeconds) < 86_400)
    }

    @Test func `its environment, name and clock are readable`() {
        #expect(CurrentProcess.environment("PATH") != nil)
        #expect(CurrentProcess.environment("BEARERD_NO_SUCH_VARIABLE") == nil)
        #expect(!CurrentProcess.hostName.isEmpty)
        #expect(CurrentProcess.identifier == getpid())
        #expect(abs(WallClock.secondsSinceEpoch - Double(time(nil))) < 2)
    }

    @Test func `dumps can be forbidden`() throws {
        try CurrentProcess.forbidDumps()
        let status = try FileSystem.status(of: "/proc/self/environ")
        #expect(status?.owner == 0)
    }
}
