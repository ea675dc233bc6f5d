// SPDX-License-Identifier: Apache-2.0

/// An actor whose every method runs on one ``EventLoop``'s thread.
package protocol LoopConfined: Actor {
    /// The loop that runs this actor.
    nonisolated var loop: EventLoop { get }
}

extension LoopConfined {
    // Inlined: every return from a wait asks, and would retain the loop.
    @inlinable package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
}
