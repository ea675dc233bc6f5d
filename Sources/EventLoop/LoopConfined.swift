// SPDX-License-Identifier: Apache-2.0

/// An actor whose methods all run on one ``EventLoop``'s thread.
package protocol LoopConfined: Actor {
    /// The loop that runs this actor.
    nonisolated var loop: EventLoop { get }
}

extension LoopConfined {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}
