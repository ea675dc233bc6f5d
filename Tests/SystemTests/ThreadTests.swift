// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import Glibc
import Synchronization
import Testing

@Suite struct `Threads` {
    private actor Confined {
        let executor: ThreadExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private(set) var count = 0

        init(_ executor: ThreadExecutor) { self.executor = executor }

        func thread() -> pthread_t {
            count += 1
            return pthread_self()
        }

        func threadAfterSleep() async -> pthread_t {
            await executor.sleep(for: .milliseconds(1))
            return pthread_self()
        }
    }

    private final class Order: Sendable {
        private let known = Mutex<[Int]>([])

        var numbers: [Int] { known.withLock { $0 } }

        func add(_ number: Int) { known.withLock { $0.append(number) } }
    }

    @Test func `an actor runs on its executor's one thread, before and after it waits`() async throws {
        let executor = try ThreadExecutor(named: "test")
        defer { executor.stop() }
        let actor = Confined(executor)
        let first = await actor.thread()
        let second = await actor.threadAfterSleep()
        #expect(first == second)
        #expect(first != pthread_self())
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { _ = await actor.thread() } }
        }
        #expect(await actor.count == 101)
    }

    @Test func `timers fire in the order of their deadlines`() async throws {
        let executor = try ThreadExecutor(named: "test")
        defer { executor.stop() }
        let order = Mutex<[Int]>([])
        await withCheckedContinuation { done in
            executor.after(.milliseconds(40)) { done.resume() }
            executor.after(.milliseconds(20)) { order.withLock { $0.append(2) } }
            executor.after(.zero) { order.withLock { $0.append(1) } }
        }
        #expect(order.withLock { $0 } == [1, 2])
    }

    @Test func `threads for files do one thing at a time, and leave what does not come back to its thread`()
        async throws
    {
        let executor = try FileExecutor(named: "test", mostThreads: 3)
        defer { executor.stop() }
        let order = Order()
        var tasks: [Task<Void, Never>] = []
        for number in 0..<100 { tasks.append(Task(executorPreference: executor) { order.add(number) }) }
        for task in tasks { await task.value }
        #expect(order.numbers == Array(0..<100))

        // Two stand, and the third thread does all the rest, and timers.
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let end = ends[0]
        let waitForByte = { @Sendable () -> Int in
            var byte: UInt8 = 0
            return read(end, &byte, 1)
        }
        let stuck = [
            Task(executorPreference: executor, operation: waitForByte),
            Task(executorPreference: executor, operation: waitForByte),
        ]
        for _ in 0..<10 { await Task(executorPreference: executor) {}.value }
        await executor.sleep(for: .milliseconds(1))
        #expect(write(ends[1], "ab", 2) == 2)
        for task in stuck { #expect(await task.value == 1) }
        await Task(executorPreference: executor) {}.value
        close(ends[0])
        close(ends[1])
    }

    @Test func `a writer writes everything in order and says when it is done`() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let writer = try OutputWriter(descriptor: ends[1], named: "test")
        for number in 0..<100 { #expect(writer.write(Array("line \(number)\n".utf8))) }
        #expect(writer.flush())
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &bytes, bytes.count)
        let expected = (0..<100).map { "line \($0)\n" }.joined()
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == expected)
        close(ends[0])
    }

    @Test func `a writer whose reader is stuck drops and counts instead of growing`() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let writer = try OutputWriter(descriptor: ends[1], limit: 100_000, named: "test")
        let block = [UInt8](repeating: 65, count: 50_000)
        for _ in 0..<20 { writer.write(block) }
        #expect(writer.dropped > 10)
        #expect(!writer.flush(waitingAtMost: .milliseconds(10)))
    }

    @Test func `a writer whose reader has gone does not end the process`() throws {
        CurrentProcess.ignoreBrokenPipes()
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        let writer = try OutputWriter(descriptor: ends[1], named: "test")
        writer.write([65])
        #expect(!writer.flush())
        #expect(!writer.write([65]))
        #expect(writer.dropped == 2)
    }

    @Test func `a writer whose disk is full for a while counts the lines that are lost, and goes on`() throws
    {
        let disk = try TemporaryDirectory()
        let (path, full) = (disk.path("log"), open("/dev/full", O_WRONLY))
        let target = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let descriptor = dup(full)
        let writer = try OutputWriter(descriptor: descriptor, named: "test")
        writer.write(Array("one\ntwo\n".utf8))
        #expect(writer.flush() && writer.dropped == 2)
        #expect(dup2(target, descriptor) == descriptor)
        #expect(writer.write(Array("three\n".utf8)) && writer.flush())
        #expect(TemporaryDirectory.contents(of: path) == Array("three\n".utf8))
        for number in [full, target, descriptor] { close(number) }
    }
}
