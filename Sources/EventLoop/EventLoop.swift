// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem
internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc
internal import Synchronization

/// One thread that waits for descriptors and timers and runs the Swift jobs that they wake.
///
/// A loop is a libevent `event_base` and also the executor of the actors and tasks that live on it, so that
/// their state needs no lock. Jobs woken by one round of events run after that round, which lets a busy loop
/// serve many connections with one `epoll_wait`. ``TurnBudget`` limits the work of one job.
///
/// `@unchecked Sendable`: `base`, `ready`, `spare`, `allowance`, `yielded` and `storagePool` are used only on
/// the loop's thread, which every method that uses them checks in debug builds; state that other threads
/// reach is behind `remote`.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    package let name: String

    private let base: OpaquePointer
    private let wakeDescriptor: CInt
    private var wakeEvent: OpaquePointer?
    /// Jobs that this thread has woken, in order.
    private let ready = Exclusive<[Ready]>([])
    /// The emptied array of the previous round, kept for its capacity.
    private let spare = Exclusive<[Ready]>([])
    /// The rest of the running job's turn; streams count it down directly.
    let allowance = UnsafeMutablePointer<Int>.allocate(capacity: 1)  // freed in deinit
    /// Jobs that have used up their turn and want to go on, in order.
    private var yielded: [UnsafeContinuation<Void, Never>] = []
    private var isStopping = false
    /// True while a job runs whose task prefers this loop.
    private var runsPreferring = false
    /// The rounds so far.
    private(set) var rounds: UInt = 0
    /// The thread that runs the loop (`pthread_self`), 0 before it runs; any thread may read it.
    private let threadIdentity = Atomic<UInt>(0)
    private let remote = Mutex(RemoteJobs())

    /// The connections that are looked at once more.
    let lateChecks = LateChecks()

    /// Where tasks wait for descriptors, if ``hasWaitingRoom`` says so.
    let waitingRoom = WaitingRoom()
    /// True if the running task may wait in ``waitingRoom``.
    ///
    /// From a job of the loop, a task that prefers the loop would go through the queue once more: its turn would come later.
    @inline(__always)
    var hasWaitingRoom: Bool { Self.takesStrayJobs && !runsPreferring }

    /// Buffers that idle connections have given back.
    package let storagePool = StoragePool()
    /// Closed streams for the next connections.
    let spareStreams = Exclusive<[ByteStream]>([])

    /// A job that is to run.
    private struct Ready {
        let job: UnownedJob
        /// True if it belongs to a task that prefers this loop (`executorPreference`).
        ///
        /// Swift compares what a job runs on with what its task wants, after each wait: a job that is told otherwise goes
        /// through the queue once more.
        let isPreferring: Bool
    }

    /// The jobs that other threads have added since the last round.
    private struct RemoteJobs {
        var jobs: [Ready] = []
        var wakeIsPending = false
    }

    /// Makes a loop that does nothing until ``run()`` or ``start()``.
    ///
    /// - Parameter name: the thread's name, of which the system shows at most 15 bytes.
    /// - Throws: ``StreamError/failed(code:)`` if the kernel has no descriptor left, or no epoll.
    package init(name: String) throws(StreamError) {
        let wakeDescriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else { throw .failed(code: errno) }
        guard Self.hasRoom(beside: wakeDescriptor), let base = Self.makeBase() else {
            let code = errno
            close(wakeDescriptor)
            throw .failed(code: code)
        }
        allowance.initialize(to: TurnBudget.allowance)
        self.name = name
        self.base = base
        self.wakeDescriptor = wakeDescriptor
        let context = Unmanaged.passUnretained(self).toOpaque()  // the event is freed in deinit
        wakeEvent = event_new(base, wakeDescriptor, CShort(EV_READ | EV_PERSIST), onWake, context)
        guard let wakeEvent, event_add(wakeEvent, nil) == 0 else { throw .failed(code: errno) }
        waitingRoom.open(on: self)
    }

    /// Checks that libevent can open the descriptors of a loop, because it ends the process otherwise.
    ///
    /// - Returns: false, with `errno` set, if there are too few.
    private static func hasRoom(beside descriptor: CInt) -> Bool {
        // epoll, a timer, a pair for signals.
        let probes = (0..<4).map { _ in fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        let code = errno
        for probe in probes where probe >= 0 { close(probe) }
        errno = code
        return probes.allSatisfy { $0 >= 0 }
    }

    /// Makes an `event_base` with edge-triggered events, which everything here relies on.
    private static func makeBase() -> OpaquePointer? {
        guard let configuration = event_config_new() else { return nil }
        defer { event_config_free(configuration) }
        event_config_require_features(configuration, CInt(EV_FEATURE_ET.rawValue))
        errno = ENOMEM
        return event_base_new_with_config(configuration)
    }

    deinit {
        lateChecks.removeAll()
        if let wakeEvent { event_free(wakeEvent) }
        event_base_free(base)
        close(wakeDescriptor)
        allowance.deallocate()
    }

    // MARK: Running

    /// Runs the loop on a new thread until ``stop()``.
    ///
    /// - Returns: the thread, to be joined once the loop was stopped.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package func start() throws(SystemError) -> LoopThread { try LoopThread(running: self) }

    /// Runs the loop on the calling thread until ``stop()``.
    package func run() {
        threadIdentity.store(UInt(pthread_self()), ordering: .relaxed)
        bearerd_set_thread_loop(Unmanaged.passUnretained(self).toOpaque())  // taken back below
        defer {
            bearerd_set_thread_loop(nil)
            lateChecks.removeAll()
            spareStreams.value = []
        }
        while !isStopping {
            takeRemoteJobs()
            runReadyJobs()
            guard !isStopping else { break }
            let mayWait = ready.value.isEmpty && yielded.isEmpty
            rounds &+= 1
            event_base_loop(base, mayWait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
            // Behind those whom the events woke, and one a round: however many there are, an event waits for one turn.
            if !yielded.isEmpty { yielded.removeFirst().resume() }
        }
    }

    /// Ends ``run()`` after the current round; any thread may call it.
    package func stop() {
        execute { self.isStopping = true }
    }

    /// Runs `body` soon on the loop's thread; any thread may call it.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: self) { body() }
    }

    /// True if the caller runs on the loop's thread.
    package var isCurrent: Bool {
        threadIdentity.load(ordering: .relaxed) == UInt(pthread_self())
    }

    private func runReadyJobs() {
        // Bounded, so that jobs that keep waking each other cannot starve the sockets.
        for _ in 0..<16 {
            guard !ready.value.isEmpty else { return }
            swap(&ready.value, &spare.value)
            for next in spare.value {
                allowance.pointee = TurnBudget.allowance
                runsPreferring = next.isPreferring
                if next.isPreferring {
                    next.job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                } else {
                    next.job.runSynchronously(on: asUnownedSerialExecutor())
                }
            }
            spare.value.removeAll(keepingCapacity: true)
        }
    }

    private func takeRemoteJobs() {
        remote.withLock { remote in
            guard !remote.jobs.isEmpty else { return }
            ready.value.append(contentsOf: remote.jobs)
            remote.jobs.removeAll(keepingCapacity: true)
        }
    }

    // MARK: Turns

    /// True if the running job has used up its turn and should ``yield()``.
    @inline(__always)
    package var turnIsOver: Bool { allowance.pointee <= 0 }

    /// Goes on after all other ready jobs, and after a look at descriptors and timers.
    package func yield() async {
        await withUnsafeContinuation { yielded.append($0) }
    }

    // MARK: Executor

    /// Takes a job of an actor on this loop.
    package func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }

    /// Takes a job of a task that prefers this loop.
    @_implements(TaskExecutor,enqueue(_:))
    package func enqueuePreferring(_ job: consuming ExecutorJob) { take(UnownedJob(job), isPreferring: true) }

    /// Runs `job` in turn; any thread may call it.
    func take(_ job: UnownedJob, isPreferring: Bool = false) {
        let next = Ready(job: job, isPreferring: isPreferring)
        if isCurrent {
            ready.value.append(next)
            return
        }
        let mustWake = remote.withLock { remote in
            remote.jobs.append(next)
            defer { remote.wakeIsPending = true }
            return !remote.wakeIsPending
        }
        if mustWake { eventfd_write(wakeDescriptor, 1) }
    }

    /// Runs `job` of a task that has waited in ``waitingRoom`` in turn.
    @inline(__always)
    func goOn(_ job: UnownedJob) { ready.value.append(Ready(job: job, isPreferring: false)) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    package func checkIsolated() {
        precondition(isCurrent, "not on the loop's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Frees what is kept for the next connections.
    package func dropSpares() {
        storagePool.empty()
        spareStreams.value = []
    }

    // MARK: For the bridge's other types

    /// Makes a libevent event on this loop without adding it; the caller frees it with `event_free`.
    func makeEvent(
        descriptor: CInt, flags: CInt, callback: event_callback_fn, context: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        event_new(base, descriptor, CShort(flags), callback, context)
    }

    fileprivate func woken() {
        var count: eventfd_t = 0
        eventfd_read(wakeDescriptor, &count)
        remote.withLock { $0.wakeIsPending = false }
        takeRemoteJobs()
    }
}

/// The coarse monotonic clock in nanoseconds, for time-outs.
func coarseNanoseconds() -> UInt64 { UInt64(CoarseInstant.now.nanoseconds) }

private func onWake(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().woken()
}
