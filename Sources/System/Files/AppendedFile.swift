// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Appends lines to a file on a thread of its own, so that a slow or full disk blocks nobody else.
///
/// The waiting bytes are limited; beyond that, lines are dropped and counted. A failed write is tried again
/// each second, and at once with another file. The thread lives as long as the process.
package final class AppendedFile: Sendable {
    /// A change in the state of the file.
    package enum News: Sendable {
        /// Writing fails; reported once until it works again.
        case fails(SystemError)
        /// Writing works again; `dropped` lines were given up since the failure was reported.
        case worksAgain(dropped: Int)
    }

    private struct State {
        var file: OpenedFile?
        /// The number of ``Use``s.
        var uses = 0
        /// True once the last ``Use`` is gone, before there is another one.
        var isUnused = false
        var pending: [UInt8] = []
        /// The number of bytes that the thread is writing.
        var inHand = 0
        var dropped = 0
        /// ``dropped`` at the moment when writing began to fail; nil while it works.
        var droppedBefore: Int?
        var retryAt: MonotonicTime?

        /// Closes the file if it is unused, once everything is written; lines that cannot be written are dropped.
        mutating func closeIfUnused() {
            guard isUnused, inHand == 0, pending.isEmpty || retryAt != nil else { return }
            dropped += pending.count { $0 == UInt8(ascii: "\n") }
            pending = []
            retryAt = nil
            file = nil
        }
    }

    /// A reason to keep the file open: it is closed once the last one is gone.
    package final class Use: Sendable {
        package let file: AppendedFile

        package init(of file: AppendedFile) {
            self.file = file
            file.monitor.update { state in
                state.uses += 1
                state.isUnused = false
            }
        }

        deinit {
            file.monitor.update { state in
                state.uses -= 1
                state.isUnused = state.uses == 0
                state.closeIfUnused()
            }
        }
    }

    private static let pause = Duration.seconds(1)

    private let limit: Int
    private let onNews: @Sendable (News) -> Void
    private let monitor = Monitor(State())

    /// - Parameters:
    ///   - limit: the most bytes that wait.
    ///   - name: the thread's name, at most 15 bytes.
    ///   - onNews: called on the thread.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package init(
        limit: Int = 1 << 20, named name: String, onNews: @escaping @Sendable (News) -> Void
    ) throws(SystemError) {
        self.limit = limit
        self.onNews = onNews
        try SystemThread.start(named: name) { [self] in run() }
    }

    /// Writes everything that waits, and that comes later, to `file`.
    package func use(_ file: OpenedFile) {
        monitor.update { state in
            state.file = file
            state.retryAt = nil
        }
    }

    /// Queues whole lines; never blocks for long.
    ///
    /// - Parameter count: the number of lines.
    package func write(_ lines: [UInt8], count: Int) {
        monitor.update { state in
            guard state.file != nil, state.pending.count + state.inHand + lines.count <= limit else {
                state.dropped += count
                return
            }
            state.pending += lines
        }
    }

    /// The number of dropped lines.
    package var dropped: Int { monitor.update { $0.dropped } }

    /// Blocks until everything queued so far is written, at most for `limit`.
    ///
    /// - Returns: true if everything is written.
    @discardableResult
    package func flush(waitingAtMost limit: Duration = .seconds(1)) -> Bool {
        let deadline = MonotonicTime.now + limit
        return monitor.wait { state in
            if state.pending.isEmpty && state.inHand == 0 { return .done(true) }
            // A write that fails now will fail until the deadline.
            guard state.retryAt == nil, .now < deadline else { return .done(false) }
            return .wait(until: deadline)
        }
    }

    private func run() {
        while true {
            let (bytes, file) = nextWork()
            let (written, failure) = file.append(bytes)
            if let news = note(written: written, of: bytes, failure) { onNews(news) }
        }
    }

    private func nextWork() -> ([UInt8], OpenedFile) {
        monitor.wait { state in
            if let retryAt = state.retryAt, .now < retryAt { return .wait(until: retryAt) }
            guard !state.pending.isEmpty, let file = state.file else { return .wait(until: nil) }
            let bytes = state.pending
            state.pending = []
            state.inHand = bytes.count
            return .done((bytes, file))
        }
    }

    private func note(written: Int, of bytes: [UInt8], _ failure: SystemError?) -> News? {
        monitor.update { state in
            state.inHand = 0
            guard let failure else {
                state.retryAt = nil
                state.closeIfUnused()
                guard let before = state.droppedBefore else { return nil }
                state.droppedBefore = nil
                return .worksAgain(dropped: state.dropped - before)
            }
            state.pending = Array(bytes[written...]) + state.pending
            state.retryAt = .now + Self.pause
            let dropped = state.dropped
            state.closeIfUnused()
            guard state.droppedBefore == nil else { return nil }
            state.droppedBefore = dropped
            return .fails(failure)
        }
    }
}
