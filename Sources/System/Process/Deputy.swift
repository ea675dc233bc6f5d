// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc
import Synchronization

/// A copy of this process that does its work, and may finish it after the process has ended; as the work sees it.
package final class Deputy: Sendable {
    private struct State: ~Copyable {
        /// Leads to the other half; nil once that waits no longer, and where there is none.
        var pipe: Descriptor?
        var result: [UInt8]?
    }

    /// What comes before a result on its way to the other half.
    private enum Mark: UInt8 {
        case ends
        case goesOn
    }

    /// Whether the work is done by a copy, which hears a SIGTERM when the other half ends; nothing else ends it before.
    package let isCopy: Bool
    private let state: Mutex<State>

    private init(_ pipe: consuming Descriptor?) {
        isCopy = pipe != nil
        state = Mutex(State(pipe: pipe))
    }

    /// Has a copy of this process do `work`, and waits for the result; call it before there are threads.
    ///
    /// Where no process can be made (`fork`), `work` runs here.
    ///
    /// - Parameter work: hands the result over, once.
    /// - Returns: what was handed over; nil if the copy ended before that.
    package static func result(of work: (Deputy) -> Void) -> [UInt8]? {
        var end: CInt = -1
        let process = bearerd_split(&end)
        guard process >= 0 else {
            let deputy = Deputy(nil)
            work(deputy)
            return deputy.state.withLock { $0.result }
        }
        let pipe = Descriptor(number: end, path: "pipe")
        guard process == 0 else {
            let bytes = ((try? pipe.readAll(limit: .max - 1)) ?? nil) ?? []
            // Else it would be left to whoever adopts orphans, and not every first process of a container does.
            if bytes.first != Mark.goesOn.rawValue { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
            return bytes.isEmpty ? nil : Array(bytes.dropFirst())
        }
        work(Deputy(consume pipe))
        bearerd_end_copy()
    }

    /// Gives the result to the process.
    ///
    /// - Parameter goesOn: whether there is something to finish that nobody waits for; see ``stayBehind()``.
    package func handOver(_ bytes: [UInt8], goingOn goesOn: Bool) {
        state.withLock { state in
            state.result = bytes
            // Who waits no longer has closed the other end.
            try? state.pipe?.writeAll([(goesOn ? Mark.goesOn : .ends).rawValue] + bytes)
        }
        if goesOn { stayBehind() }
    }

    /// Goes on by itself from now on: with none of the descriptors that were inherited, away from the terminal, and what
    /// is written to the standard streams goes nowhere.
    package func stayBehind() {
        guard isCopy else { return }
        state.withLock { state in
            bearerd_stay_behind()
            state.pipe = nil  // the other half goes on when this end is closed
        }
    }
}
