// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// The readiness of one descriptor, and the tasks that wait for it.
///
/// The descriptor is watched edge-triggered from the first wait to ``cancel()``: one `epoll_ctl` in its life, one more if a send
/// has to wait, none if nothing waits. An edge sets a flag; a task that finds the kernel's buffer empty or full clears it and
/// waits. Confined to its loop's thread.
package final class Readiness {
    /// True if a receive may find something; ``clearReadable()`` clears it.
    package var isReadable: Bool { mayReceive }
    /// True if a send may be taken; ``clearWritable()`` clears it.
    package var isWritable: Bool { maySend }
    /// True if the peer has ended its direction, perhaps after bytes that still wait.
    package var peerHasEnded: Bool { hasEnd }

    // Private, because the compiler proves of these what it has to check at run time for what others see: a request asks
    // a dozen times, at 65 instructions.
    private var mayReceive = true
    private var maySend = true
    private var hasEnd = false
    private var listener: (() -> Void)?

    /// Called on the loop's thread when data arrives that no task waits for, or when the peer has ended.
    ///
    /// It may cancel the watch and release this object.
    package var onEdge: (() -> Void)? {
        get { listener }
        set {
            listener = newValue
            guard newValue != nil else { return }
            // Nobody will tell of an edge: whoever looks is to look closely, and hears why when it waits.
            do { try watch(.reading) } catch { mayReceive = true }
        }
    }

    /// True if a reader waits for the next writable edge.
    private var readerNeedsWritable = false
    var descriptor: CInt { watched }
    private var watched: CInt
    private let loop: EventLoop
    private var isCancelled = false
    private var readingEvent: OpaquePointer?
    private var writingEvent: OpaquePointer?
    private var timer: OpaquePointer?
    /// When the timer fires; `.max` if it is not set.
    ///
    /// It may fire early, for a wait that has ended since: setting it at each wait would cost two heap operations a request.
    private var timerDeadline = UInt64.max
    /// True while ``LateChecks`` will look at this connection.
    private var isNoted = false
    /// How long the peer may take none of the sent data, in nanoseconds.
    private var patience: UInt64 = 0
    /// The number of sent bytes that the peer had not taken at the last check.
    private var untaken: CInt = 0
    private var lookAt = UInt64.max
    /// True if the next wait for reading must end at once.
    private var isInterrupted = false
    private var reader: Waiter?
    private var relay: Relay?
    private var writer: Waiter?
    /// How the last wait in either direction has ended.
    private var readerFailure: StreamError?
    private var writerFailure: StreamError?
    /// The previous time-out as a duration and in nanoseconds; it seldom changes.
    private var lastTimeout: (duration: Duration, nanoseconds: UInt64) = (.zero, 0)

    /// - Parameter descriptor: non-blocking, and open while this object watches it.
    package init(descriptor: CInt, loop: EventLoop) {
        watched = descriptor
        self.loop = loop
    }

    deinit { freeEvents() }

    /// True if the watch has stopped and nobody waits; who knows this object then is its stream alone.
    var isOver: Bool { isCancelled && !isNoted && reader == nil && writer == nil }

    /// Starts over with another descriptor, when it ``isOver``.
    func begin(on descriptor: CInt) {
        precondition(isOver, "a connection is replaced that is in use")
        watched = descriptor
        isCancelled = false
        mayReceive = true
        maySend = true
        hasEnd = false
        if listener != nil { listener = nil }
        readerNeedsWritable = false
        timerDeadline = .max
        lookAt = .max
        isInterrupted = false
        readerFailure = nil
        writerFailure = nil
    }

    /// Stops watching; call it before closing the descriptor.
    ///
    /// Waiting tasks get ``StreamError/closed``.
    package func cancel() {
        isCancelled = true
        freeEvents()
        resume(.reading, with: .closed)
        resume(.writing, with: .closed)
    }

    /// Notes that the kernel's buffer was found empty.
    package func clearReadable() { mayReceive = peerHasEnded }

    /// Notes that a receive will find data, or at least the end.
    package func markReadable() {
        mayReceive = true
        resume(.reading, with: nil)
    }

    /// Notes that nothing can be received before something is sent, because TLS has a message of its own to send.
    package func clearReadableUntilWritable() {
        mayReceive = false
        maySend = false
        readerNeedsWritable = true
    }

    /// True from then on until there is room for that message.
    var receivesBehindSend: Bool { readerNeedsWritable }

    /// Notes that the kernel's buffer was found full.
    package func clearWritable() { maySend = false }

    /// Waits until the descriptor is readable, ended or broken.
    ///
    /// - Parameters:
    ///   - timeout: zero or less waits for ever.
    ///   - isInside: true if a message is incomplete, so that more must come.
    /// - Throws: ``StreamError/timedOut``, ``StreamError/closed``, or ``StreamError/failed(code:)`` if the
    ///   kernel cannot watch the descriptor.
    @inline(__always)
    package func readable(within timeout: Duration, isInside: Bool = false) async throws(StreamError) {
        guard !isReadable else { return }
        if isInside, !isNoted, !isCancelled { noteForCheck() }
        try await wait(.reading, within: timeout)
    }

    /// Waits as ``readable(within:isInside:)`` does inside a message, and has `take` called for each arrival meanwhile.
    ///
    /// - Parameter take: called by no task; what it throws ends the wait.
    func readable(
        within timeout: Duration, by take: @escaping () throws(StreamError) -> Arrival
    ) async throws(StreamError) {
        relay = Relay(take: take, patience: timeout.wholeNanoseconds)
        defer { relay = nil }
        try await readable(within: timeout, isInside: true)
    }

    /// Ends the wait for data that has arrived, unless it is relayed.
    @inline(__always)
    private func arrived(withEnd hasEnd: Bool) {
        guard !hasEnd, let before = reader?.deadline, let relay else { return resume(.reading, with: nil) }
        do throws(StreamError) {
            // Before the access: a call inside an access to `reader` has all of them checked at run time, for 500 instructions a request.
            guard let deadline = try relay.deadline(after: before) else { return resume(.reading, with: nil) }
            reader?.deadline = deadline
        } catch {
            return resume(.reading, with: error)
        }
        if !isNoted, reader != nil { noteForCheck() }
    }

    private func noteForCheck() {
        isNoted = true
        loop.lateChecks.add(self, on: loop)
    }

    /// Waits until the descriptor is writable or broken.
    ///
    /// - Parameter timeout: how long the peer may take no data; zero or less waits for ever.
    /// - Throws: as ``readable(within:isInside:)``.
    package func writable(within timeout: Duration) async throws(StreamError) {
        guard !isWritable else { return }
        try await wait(.writing, within: timeout)
    }

    /// Makes the current wait for reading, or else the next one, throw ``StreamError/closed``.
    package func interruptReader() {
        isInterrupted = reader == nil
        resume(.reading, with: .closed)
    }

    /// Revokes an interruption that has not ended a wait.
    package func forgetInterruption() { isInterrupted = false }

    /// Part of its callers, because a frame of its own costs 150 instructions.
    @inline(__always)
    private func wait(_ direction: Direction, within timeout: Duration) async throws(StreamError) {
        precondition(loop.isCurrent, "a stream is used off its loop's thread")
        guard !isCancelled else { throw .closed }
        try watch(direction)
        if timeout != lastTimeout.duration { lastTimeout = (timeout, timeout.wholeNanoseconds) }
        let deadline = timeout > .zero ? coarseNanoseconds() &+ lastTimeout.nanoseconds : .max
        if direction == .writing { beginLooking(until: deadline) }
        if deadline < timerDeadline { setTimer(to: deadline) }
        let failure =
            loop.hasWaitingRoom
            ? await room(direction, until: deadline) : await continuation(direction, until: deadline)
        if let failure { throw failure }
    }

    /// Waits as a task of an actor on the loop; nothing else runs before it has left the thread.
    @inline(__always)
    private func room(_ direction: Direction, until deadline: UInt64) async -> StreamError? {
        switch direction {
        case .reading:
            guard !isInterrupted else {
                isInterrupted = false
                return .closed
            }
            guard !isReadable else { return nil }
            reader = Waiter(deadline: deadline)
            loop.waitingRoom.announce(.reader(.passUnretained(self)))
        case .writing:
            guard !isWritable else { return nil }
            writer = Waiter(deadline: deadline)
            loop.waitingRoom.announce(.writer(.passUnretained(self)))
        }
        await loop.waitingRoom.enter()
        return direction == .reading ? readerFailure : writerFailure
    }

    /// Waits as a task that prefers the loop, or where loops take no stray jobs.
    private func continuation(_ direction: Direction, until deadline: UInt64) async -> StreamError? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<StreamError?, Never>) in
            let waiter = Waiter(continuation: continuation, deadline: deadline)
            // A caller on no actor may have let other jobs run before this.
            switch direction {
            case _ where isCancelled:
                continuation.resume(returning: .closed)
            case .reading where isInterrupted:
                isInterrupted = false
                continuation.resume(returning: .closed)
            case .reading where isReadable, .writing where isWritable:
                continuation.resume(returning: nil)
            case .reading: reader = waiter
            case .writing: writer = waiter
            }
        }
    }

    func keepReader(_ job: UnownedJob) { reader?.job = job }

    func keepWriter(_ job: UnownedJob) { writer?.job = job }

    /// Extends the next wait for writing while the peer takes sent data.
    ///
    /// The kernel reports room when a third of its buffer is free, which may be a megabyte: without this, a slow reader would
    /// look like one that does not read at all.
    private func beginLooking(until deadline: UInt64) {
        lookAt = .max
        guard deadline != .max else { return }
        patience = lastTimeout.nanoseconds
        untaken = bearerd_untaken(descriptor)
        lookAt = deadline &- patience / 4 &* 3
        if lookAt < timerDeadline { setTimer(to: lookAt) }
    }

    private func look(at now: UInt64) {
        let left = bearerd_untaken(descriptor)
        if left >= 0, left < untaken { writer?.deadline = now &+ patience }
        untaken = left
        lookAt = min(now &+ patience / 4, writer?.deadline ?? .max)
    }

    private func resume(_ direction: Direction, with failure: StreamError?) {
        switch direction {
        case .reading:
            guard let waiter = reader else { return }
            reader = nil
            readerFailure = failure
            goOn(waiter, with: failure)
        case .writing:
            guard let waiter = writer else { return }
            writer = nil
            lookAt = .max
            writerFailure = failure
            goOn(waiter, with: failure)
        }
    }

    @inline(__always)
    private func goOn(_ waiter: Waiter, with failure: StreamError?) {
        if let job = waiter.job { loop.goOn(job) } else { waiter.continuation?.resume(returning: failure) }
    }

    // The events are freed in cancel() or deinit, so they never outlive this object, which is their context.

    /// Registers for edges; a state that already holds counts as an edge (epoll_ctl(2)).
    private func watch(_ direction: Direction) throws(StreamError) {
        guard !isCancelled else { return }
        if readingEvent == nil { readingEvent = try addEvent(EV_READ | EV_CLOSED) }
        if direction == .writing || readerNeedsWritable, writingEvent == nil {
            writingEvent = try addEvent(EV_WRITE)
        }
    }

    private func addEvent(_ flags: CInt) throws(StreamError) -> OpaquePointer {
        let event = loop.makeEvent(
            descriptor: descriptor, flags: flags | EV_ET | EV_PERSIST, callback: onReadiness,
            context: Unmanaged.passUnretained(self).toOpaque())
        guard let event else { throw .failed(code: ENOMEM) }
        guard event_add(event, nil) == 0 else {
            let code = errno
            event_free(event)
            throw .failed(code: code)
        }
        return event
    }

    private func setTimer(to deadline: UInt64) {
        let timer =
            timer
            ?? loop.makeEvent(
                descriptor: -1, flags: 0, callback: onDeadline,
                context: Unmanaged.passUnretained(self).toOpaque())
        self.timer = timer
        timerDeadline = deadline
        let now = coarseNanoseconds()
        var delay = timeval(.nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0)))
        event_add(timer, &delay)
    }

    private func freeEvents() {
        if let readingEvent { event_free(readingEvent) }
        if let writingEvent { event_free(writingEvent) }
        if let timer { event_free(timer) }
        readingEvent = nil
        writingEvent = nil
        timer = nil
    }

    /// - Returns: true if ``onEdge`` is to be told.
    fileprivate func changed(_ what: CShort) -> Bool {
        var hasNews = false
        if what & CShort(EV_CLOSED) != 0 {
            hasNews = !peerHasEnded
            hasEnd = true
        }
        if what & CShort(EV_READ | EV_CLOSED) != 0 {
            mayReceive = true
            if reader == nil { hasNews = true }
            arrived(withEnd: what & CShort(EV_CLOSED) != 0)
        }
        if what & CShort(EV_WRITE) != 0 {
            maySend = true
            resume(.writing, with: nil)
            if readerNeedsWritable {
                readerNeedsWritable = false
                mayReceive = true
                resume(.reading, with: nil)
            }
        }
        return hasNews && listener != nil
    }

    /// Ends a wait for reading that began on a broken connection.
    func checkReader() {
        isNoted = false
        guard !isCancelled else { return }
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        guard reader != nil, poll(&state, 1, 0) > 0 else { return }
        // Only what nobody asks for can be there: an error, or both ends closed.
        mayReceive = true
        resume(.reading, with: nil)
    }

    fileprivate func deadlineReached() {
        timerDeadline = .max
        let now = coarseNanoseconds()
        if writer != nil, lookAt <= now { look(at: now) }
        if let reader, reader.deadline <= now { resume(.reading, with: .timedOut) }
        if let writer, writer.deadline <= now { resume(.writing, with: .timedOut) }
        let next = min(reader?.deadline ?? .max, writer?.deadline ?? .max, writer == nil ? .max : lookAt)
        if next != .max { setTimer(to: next) }
    }
}

private func onReadiness(_: CInt, _ what: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let readiness = Unmanaged<Readiness>.fromOpaque(context)
    // Waiting tasks are resumed later. A relay runs now, and its stream keeps the object. `onEdge` may release it, so it is retained.
    guard readiness._withUnsafeGuaranteedRef({ $0.changed(what) }) else { return }
    let told = readiness.takeUnretainedValue()
    withExtendedLifetime(told) { told.onEdge?() }
}

private func onDeadline(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Readiness>.fromOpaque(context).takeUnretainedValue().deadlineReached()
}
