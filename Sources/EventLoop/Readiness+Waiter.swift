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

    /// A function that is called for arrivals while a task waits.
    struct Relay {
        let take: () throws(StreamError) -> Bool
        /// How long nothing may arrive, in nanoseconds; zero waits for ever.
        let patience: UInt64
    }
}
