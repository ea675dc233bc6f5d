// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import Glibc

/// Delivers a signal of the process on an ``EventLoop``'s thread.
///
/// libevent allows one loop of a process to receive signals; here it is the control loop.
package final class SignalSource {
    private var event: OpaquePointer?
    private let action: () -> Void

    /// - Parameters:
    ///   - signal: the number, for instance `SIGTERM`.
    ///   - action: called on the loop's thread for each delivery.
    /// - Throws: ``StreamError/failed(code:)`` if the loop cannot receive signals.
    package init(_ signal: Int32, loop: EventLoop, action: @escaping () -> Void) throws(StreamError) {
        self.action = action
        let context = Unmanaged.passUnretained(self).toOpaque()  // freed in deinit: no callback outlives us
        event = loop.makeEvent(
            descriptor: signal, flags: EV_SIGNAL | EV_PERSIST, callback: onSignal, context: context)
        guard let event, event_add(event, nil) == 0 else { throw .failed(code: errno) }
    }

    deinit { if let event { event_free(event) } }

    /// Blocks a signal for this thread and those that it starts, or unblocks it and delivers what came
    /// meanwhile.
    ///
    /// Most signals end the process if they come before a source exists.
    package static func hold(_ signal: Int32, _ isHeld: Bool) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(isHeld ? SIG_BLOCK : SIG_UNBLOCK, &signals, nil)
    }

    fileprivate func fire() { action() }
}

private func onSignal(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue().fire()
}
