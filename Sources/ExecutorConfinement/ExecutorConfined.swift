// SPDX-License-Identifier: Apache-2.0

/// An actor that runs on an executor it was given, whichever that is.
///
/// A bridge because naming an `UnownedSerialExecutor` counts as unsafe: the actor must keep its executor alive, and
/// a conforming actor does so by storing it in `executor`.
public protocol ExecutorConfined: Actor {
    /// The executor that runs this actor; the actor keeps it alive.
    nonisolated var executor: any SerialExecutor { get }
}

extension ExecutorConfined {
    /// The executor on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
