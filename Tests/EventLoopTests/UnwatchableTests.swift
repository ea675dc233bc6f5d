// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import Testing

/// A connection on which nothing can be moved for now.
private final class BlockedWire: Wire {
    var drainsOnShortReceive: Bool { true }
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult { .wouldBlockOnRead }
    func send(_ source: UnsafeRawBufferPointer) -> WireResult { .wouldBlockOnWrite }
    func endSending() -> WireResult { .wouldBlockOnWrite }
    func close() {}
}

/// A connection on a descriptor that epoll refuses, as it does all when there are too many (epoll_ctl(2)).
private actor Deaf: LoopConfined {
    nonisolated let loop: EventLoop
    private let descriptor: Int32
    private let stream: ByteStream

    init(loop: EventLoop, descriptor: Int32) {
        self.loop = loop
        self.descriptor = descriptor
        stream = ByteStream(
            wire: BlockedWire(), readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
    }

    func failureOfFilling() async -> StreamError? {
        do throws(StreamError) {
            _ = try await stream.fill(within: .zero)
            return nil
        } catch {
            return error
        }
    }

    func failureOfWriting() async -> StreamError? {
        do throws(StreamError) {
            try await stream.write([1], within: .zero)
            return nil
        } catch {
            return error
        }
    }

    /// Whether somebody who only wants to hear of news is told to look.
    func looksClosely() -> Bool {
        _ = try? stream.receive()
        stream.readiness.onEdge = {}
        return stream.readiness.isReadable
    }

    func isWatched() -> Bool {
        DescriptorWatch(descriptor: descriptor, directions: .reading, loop: loop) { _ in } != nil
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A descriptor that cannot be watched` {
    private func withDeaf(_ body: (Deaf) async throws -> Void) async throws {
        let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)  // epoll takes no regular files
        try #require(descriptor >= 0)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let deaf = await Task(executorPreference: loop) { Deaf(loop: loop, descriptor: descriptor) }.value
        try await body(deaf)
        loop.stop()
        thread.join()
        close(descriptor)
    }

    @Test func `fails for whoever waits for it`() async throws {
        try await withDeaf { deaf in
            #expect(await deaf.failureOfFilling() == .failed(code: EPERM))
            #expect(await deaf.failureOfWriting() == .failed(code: EPERM))
        }
    }

    @Test func `is looked at by whoever only waits for news`() async throws {
        try await withDeaf { deaf in #expect(await deaf.looksClosely()) }
    }

    @Test func `is no watch for a library`() async throws {
        try await withDeaf { deaf in #expect(await !deaf.isWatched()) }
    }
}
