// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc
import Synchronization

/// A fork of this process that does some work, and may finish it after this process has ended.
package final class ForkedProcess: Sendable {
    private struct State: ~Copyable {
        /// The pipe to the waiting process; nil once that no longer waits, or if there is no copy.
        var pipe: Descriptor?
        var result: [UInt8]?
    }

    /// The byte that precedes a result in the pipe.
    private enum Mark: UInt8 {
        case ends
        case goesOn
    }

    /// True if a forked copy does the work; the copy gets SIGTERM when the other process ends.
    package let isCopy: Bool
    private let state: Mutex<State>

    private init(_ pipe: consuming Descriptor?) {
        isCopy = pipe != nil
        state = Mutex(State(pipe: pipe))
    }

    /// Forks a copy of this process for `work`, and waits for its result; call it before there are threads.
    ///
    /// If `fork` fails, `work` runs in this process.
    ///
    /// - Parameter work: hands its result over once.
    /// - Returns: the result; nil if the copy ended without one.
    package static func result(of work: (ForkedProcess) -> Void) -> [UInt8]? {
        var end: CInt = -1
        let process = bearerd_split(&end)
        guard process >= 0 else {
            let copy = ForkedProcess(nil)
            work(copy)
            return copy.state.withLock { $0.result }
        }
        let pipe = Descriptor(number: end, path: "pipe")
        guard process == 0 else {
            let bytes = ((try? pipe.readAll(limit: .max - 1)) ?? nil) ?? []
            // Else it would be left to whoever adopts orphans, and not every first process of a container does.
            if bytes.first != Mark.goesOn.rawValue { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
            return bytes.isEmpty ? nil : Array(bytes.dropFirst())
        }
        let copy = ForkedProcess(consume pipe)
        // `Mutex` knows this thread by the number that it had before the fork, and dies where two threads want one at once.
        SystemThread.run(named: "command") { work(copy) }
        bearerd_end_copy()
    }

    /// Passes the result to the waiting process.
    ///
    /// - Parameter goesOn: true if the copy has more to do, for which nobody waits; see ``stayBehind()``.
    package func handOver(_ bytes: [UInt8], goingOn goesOn: Bool) {
        state.withLock { state in
            state.result = bytes
            // A process that waits no longer has closed the other end.
            try? state.pipe?.writeAll([(goesOn ? Mark.goesOn : .ends).rawValue] + bytes)
        }
        if goesOn { stayBehind() }
    }

    /// Detaches the copy: closes its inherited descriptors, leaves the terminal, and discards output to the
    /// standard streams.
    package func stayBehind() {
        guard isCopy else { return }
        state.withLock { state in
            bearerd_stay_behind()
            state.pipe = nil  // the other half goes on when this end is closed
        }
    }
}
