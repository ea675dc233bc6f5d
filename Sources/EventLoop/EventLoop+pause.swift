// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent

extension EventLoop {
    /// Suspends the caller, which must run on this loop, for `duration`.
    ///
    /// Code on a loop never uses `Task.sleep`, which switches to other threads. The pause cannot be
    /// cancelled: keep it short, or use ``LoopTimer``.
    package func pause(for duration: Duration) async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let pause = Pause(continuation: continuation)
            let context = Unmanaged.passRetained(pause).toOpaque()  // released in onPauseEnd
            pause.event = makeEvent(descriptor: -1, flags: 0, callback: onPauseEnd, context: context)
            var delay = timeval(duration)
            event_add(pause.event, &delay)
        }
    }
}

/// A suspended caller and the event that resumes it.
private final class Pause {
    var event: OpaquePointer?
    private let continuation: UnsafeContinuation<Void, Never>

    init(continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
    }

    deinit { if let event { event_free(event) } }

    func end() { continuation.resume() }
}

private func onPauseEnd(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Pause>.fromOpaque(context).takeRetainedValue().end()
}
