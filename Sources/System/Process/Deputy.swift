// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc
import Synchronization

/// A copy of this process that does its work, and may finish it after the process has ended.
package enum Deputy {
    /// Has a copy of this process do `work`, and waits for the result; call it before there are threads.
    ///
    /// Until the result is there the copy dies with this process. Then it lives on by itself until `work` returns, with
    /// none of the descriptors that were inherited, away from the terminal, and its own output goes nowhere.
    ///
    /// - Parameter work: is given what hands the result over, once; runs here where no process can be made (`fork`).
    /// - Returns: what was handed over; nil if the copy ended before that.
    package static func result(
        of work: (_ handOver: @escaping @Sendable ([UInt8]) -> Void) -> Void
    ) -> [UInt8]? {
        var end: CInt = -1
        let process = bearerd_split(&end)
        guard process >= 0 else { return resultHere(of: work) }
        let pipe = Descriptor(number: end, path: "pipe")
        guard process == 0 else {
            let bytes = (try? pipe.readAll(limit: .max - 1)) ?? nil
            return bytes.flatMap { $0.isEmpty ? nil : $0 }
        }
        let open = Mutex<Descriptor?>(consume pipe)
        work { bytes in
            open.withLock { pipe in
                try? pipe?.writeAll(bytes)
                bearerd_stay_behind()
                pipe = nil  // the other half goes on when this end is closed
            }
        }
        bearerd_end_copy()
    }

    private static func resultHere(
        of work: (_ handOver: @escaping @Sendable ([UInt8]) -> Void) -> Void
    ) -> [UInt8]? {
        let result = Mutex<[UInt8]?>(nil)
        work { bytes in result.withLock { $0 = bytes } }
        return result.withLock { $0 }
    }
}
