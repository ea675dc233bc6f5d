// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes to a descriptor on a thread of its own, so that a reader that stops reading blocks nobody else.
///
/// The waiting bytes are limited; beyond that, each write is dropped whole. So is what cannot be written, to a full disk for
/// example, which is tried again with what comes next. The thread lives as long as the process.
package final class OutputWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var isWriting = false
        var dropped = 0
        /// True if the last line was broken off: what comes next begins with a line end.
        var owesLineEnd = false
        /// True once the other end is gone for good.
        var isBroken = false
    }

    private let descriptor: CInt
    private let limit: Int
    private let monitor = Monitor(State())

    /// - Parameters:
    ///   - descriptor: not owned; 2 is standard error.
    ///   - limit: the most bytes that wait.
    ///   - name: the thread's name, at most 15 bytes.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package init(
        descriptor: CInt = STDERR_FILENO, limit: Int = 1 << 20, named name: String = "log"
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.limit = limit
        try SystemThread.start(named: name) { [self] in run() }
    }

    /// Queues whole lines; never blocks for long.
    ///
    /// - Returns: false if they were dropped.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        monitor.update { state in
            guard !state.isBroken, state.pending.count + bytes.count <= limit else {
                state.dropped += Self.lineCount(of: bytes[...])
                return false
            }
            // Most often nothing waits, and the lines need not be copied.
            if state.pending.isEmpty { state.pending = bytes } else { state.pending += bytes }
            return true
        }
    }

    /// The number of lines that were dropped, the broken ones among them.
    package var dropped: Int { monitor.update { $0.dropped } }

    /// Blocks until everything queued so far is written, at most for `limit`.
    ///
    /// - Returns: true if everything is written.
    @discardableResult
    package func flush(waitingAtMost limit: Duration = .seconds(1)) -> Bool {
        let deadline = MonotonicTime.now + limit
        return monitor.wait { state in
            if state.pending.isEmpty && !state.isWriting { return .done(!state.isBroken) }
            return .now < deadline ? .wait(until: deadline) : .done(false)
        }
    }

    private func run() {
        while true {
            let bytes: [UInt8] = monitor.wait { state in
                guard !state.pending.isEmpty else { return .wait(until: nil) }
                state.isWriting = true
                defer { state.pending = [] }
                return .done(state.owesLineEnd ? [Self.lineEnd] + state.pending : state.pending)
            }
            let (count, failure) = Descriptor.write(bytes, to: descriptor)
            monitor.update { state in
                state.isWriting = false
                if count > 0 { state.owesLineEnd = failure != nil && bytes[count - 1] != Self.lineEnd }
                guard let failure else { return }
                state.dropped += Self.lineCount(of: bytes[count...].drop { $0 == Self.lineEnd })
                if failure == EPIPE || failure == EBADF { state.isBroken = true }
            }
        }
    }

    private static let lineEnd = UInt8(ascii: "\n")

    private static func lineCount(of bytes: ArraySlice<UInt8>) -> Int {
        max(1, bytes.count { $0 == lineEnd })
    }
}
