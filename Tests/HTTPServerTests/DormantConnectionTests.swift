// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPServer
import Glibc
import Testing

/// Dormant connections on a loop, each with the number of the one that it is.
private actor Ward: LoopConfined {
    nonisolated let loop: EventLoop
    nonisolated let woken: AsyncStream<Int>
    private let report: AsyncStream<Int>.Continuation
    private let limit: Duration
    private var dormant: DormantConnections<Int>?
    private var streams: [ByteStream] = []
    /// Put back as soon as they are woken.
    private var returning: Set<Int> = []

    init(loop: EventLoop, limit: Duration) {
        self.loop = loop
        (woken, report) = AsyncStream.makeStream()
        self.limit = limit
    }

    private func makeDormant() -> DormantConnections<Int> {
        // On the loop's thread, which is this actor's executor. The cycle ends in end().
        DormantConnections<Int>(loop: loop, limit: limit) { connection in self.wake(connection) }
    }

    private func wake(_ connection: DormantConnections<Int>.Connection) {
        report.yield(connection.origin)
        if returning.remove(connection.origin) != nil { add(connection.stream, as: connection.origin) }
    }

    func add(_ descriptor: Int32, as number: Int, silentSince: ContinuousClock.Instant? = nil) {
        if dormant == nil { dormant = makeDormant() }
        let stream = ByteStream(
            wire: SocketWire(descriptor: descriptor),
            readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        streams.append(stream)
        add(stream, as: number, silentSince: silentSince)
    }

    private func add(_ stream: ByteStream, as number: Int, silentSince: ContinuousClock.Instant? = nil) {
        while (try? stream.receive()) == true { stream.input.consume(stream.input.count) }
        dormant?.add(stream, from: .unknown, origin: number, silentSince: silentSince)
    }

    /// Has the next wake-up of `number` put it back.
    func returnOnce(_ number: Int) { returning.insert(number) }

    func closeAll() { dormant?.closeAll() }

    var isEmpty: Bool { dormant?.isEmpty ?? true }

    func end() {
        dormant = nil
        for stream in streams { stream.close() }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A dormant connection` {
    /// Runs `body` with so many connections and their other ends.
    private func withWard(
        of count: Int, limit: Duration, _ body: (Ward, [Int32]) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let ward = Ward(loop: loop, limit: limit)
        var others: [Int32] = []
        for number in 0..<count {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            others.append(ends[1])
            await ward.add(ends[0], as: number)
        }
        try await body(ward, others)
        await ward.end()
        for other in others { close(other) }
        loop.stop()
        thread.join()
    }

    @Test func `end in the order in which they fell silent`() async throws {
        try await withWard(of: 4, limit: .seconds(1)) { ward, others in
            var woken = ward.woken.makeAsyncIterator()
            for number in [0, 2] {
                await ward.returnOnce(number)
                #expect(send(others[number], "x", 1, 0) == 1)
                #expect(await woken.next() == number)
            }
            for number in [1, 3, 0, 2] { #expect(await woken.next() == number) }
            #expect(await ward.isEmpty)
        }
    }

    @Test func `is over at once where nothing has woken it for so long as it may be silent`() async throws {
        try await withWard(of: 1, limit: .seconds(60)) { ward, _ in
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { close(ends[1]) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            await ward.add(ends[0], as: 7, silentSince: .now - .seconds(60))
            var woken = ward.woken.makeAsyncIterator()
            #expect(await woken.next() == 7)
            #expect(await !ward.isEmpty, "the other one has just begun")
        }
    }

    @Test func `stay for ever without a limit, until all are closed`() async throws {
        try await withWard(of: 3, limit: .zero) { ward, others in
            var woken = ward.woken.makeAsyncIterator()
            #expect(send(others[1], "x", 1, 0) == 1)
            #expect(await woken.next() == 1)
            await ward.returnOnce(2)
            await ward.closeAll()
            for number in [0, 2] { #expect(await woken.next() == number) }
            #expect(await !ward.isEmpty)
            await ward.closeAll()
            #expect(await woken.next() == 2)
            #expect(await ward.isEmpty)
        }
    }

    @Test func `many can be forgotten at once`() async throws {
        try await withWard(of: 400, limit: .seconds(60)) { ward, _ in #expect(await !ward.isEmpty) }
    }
}
