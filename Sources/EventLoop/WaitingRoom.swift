// SPDX-License-Identifier: Apache-2.0

/// The object that keeps the job of the next task until the loop runs it.
///
/// The task is in a method of it, which keeps it alive: nobody counts a reference.
enum TaskKeeper {
    case reader(Unmanaged<Readiness>)
    case writer(Unmanaged<Readiness>)
    case wait(Unmanaged<LoopWait>)

    @inline(__always)
    fileprivate func keep(_ job: UnownedJob) {
        switch self {
        case .reader(let readiness): readiness._withUnsafeGuaranteedRef { $0.keepReader(job) }
        case .writer(let readiness): readiness._withUnsafeGuaranteedRef { $0.keepWriter(job) }
        case .wait(let wait): wait._withUnsafeGuaranteedRef { $0.keep(job) }
        }
    }
}

/// Where the tasks of one loop wait for their peers.
///
/// A task that is sent to another executor is handed to it as a job, and this one's executor runs none: it gives the job
/// to whoever has announced it, who lets the loop run it when the time has come. There the task finds itself on the loop
/// where it was, so the way back to its actor is no way. A continuation does the same for twice as much: it goes through
/// the runtime's queue for what has no executor, 500 instructions each time. Confined to the loop's thread.
actor WaitingRoom {
    private nonisolated let executor = RoomExecutor()
    private var visits: UInt = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter loop: owns the room.
    nonisolated func open(on loop: EventLoop) { executor.loop = loop }

    /// Says whose task comes next; `await` ``enter()`` at once, with nothing in between.
    nonisolated func announce(_ keeper: TaskKeeper) {
        if case .some = executor.keeper { preconditionFailure("a task that was announced has not come") }
        executor.keeper = keeper
    }

    /// Returns once the keeper has had the task's job run.
    ///
    /// It counts, and is not inlined, because the compiler leaves out the way to an executor on which nothing is done.
    @inline(never)
    func enter() { visits &+= 1 }
}

/// The executor of a ``WaitingRoom``.
///
/// `@unchecked Sendable`: it is used only on the loop's thread.
private final class RoomExecutor: SerialExecutor, @unchecked Sendable {
    /// Owns the room.
    unowned(unsafe) var loop: EventLoop?
    var keeper: TaskKeeper?

    func enqueue(_ job: consuming ExecutorJob) {
        guard let keeper = self.keeper else { preconditionFailure("a task that nobody has announced") }
        self.keeper = nil
        keeper.keep(UnownedJob(job))
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    // Those who come here run as the loop's.
    func checkIsolated() { loop?.checkIsolated() }

    func isIsolatingCurrentContext() -> Bool? { loop?.isCurrent }
}
