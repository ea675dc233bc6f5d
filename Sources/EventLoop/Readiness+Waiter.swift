// SPDX-License-Identifier: Apache-2.0

extension Readiness {
    enum Direction { case reading, writing }

    struct Waiter {
        /// The next step of a task that waits in the ``WaitingRoom``, once it is there.
        var job: UnownedJob?
        /// How a task goes on that does not.
        var continuation: UnsafeContinuation<StreamError?, Never>?
        /// In coarse nanoseconds; `.max` waits for ever.
        var deadline: UInt64
    }

    /// The outcome of an arrival that no task was told of.
    enum Arrival {
        /// Something was taken, and the wait begins anew.
        case taken
        /// It has brought nothing, as records of TLS without data do, and is silence: the wait goes on.
        case nothing
        /// The task is to go on.
        case forTask
    }

    /// A function that is called for arrivals while a task waits.
    struct Relay {
        let take: () throws(StreamError) -> Arrival
        /// How long nothing may arrive, in nanoseconds; zero waits for ever.
        let patience: UInt64

        /// Takes an arrival during a wait until `deadline`.
        ///
        /// - Returns: until when the wait goes on; nil if it is over.
        @inline(__always)
        func deadline(after deadline: UInt64) throws(StreamError) -> UInt64? {
            switch try take() {
            case .taken: patience > 0 ? coarseNanoseconds() &+ patience : .max
            case .nothing: deadline
            case .forTask: nil
            }
        }
    }
}
