// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import Glibc

/// A signal of the process, delivered on an ``EventLoop``'s thread.
///
/// libevent lets one loop of a process take signals; here it is the control loop.
package final class SignalSource {
    private var event: OpaquePointer?
    private let action: () -> Void

    /// - Parameters:
    ///   - signal: its number, for instance `SIGTERM`.
    ///   - action: runs on the loop's thread for each delivery.
    /// - Throws: ``StreamError/failed(code:)`` when the loop cannot be told of signals.
    package init(_ signal: Int32, loop: EventLoop, action: @escaping () -> Void) throws(StreamError) {
        self.action = action
        let context = Unmanaged.passUnretained(self).toOpaque()  // freed in deinit: no callback outlives us
        event = loop.makeEvent(
            descriptor: signal, flags: EV_SIGNAL | EV_PERSIST, callback: onSignal, context: context)
        guard let event, event_add(event, nil) == 0 else { throw .failed(code: errno) }
    }

    deinit { if let event { event_free(event) } }

    /// Holds a signal back from this thread, and those that it begins, or delivers what came meanwhile.
    ///
    /// Before a source hears of it, most signals end the process.
    package static func hold(_ signal: Int32, _ isHeld: Bool) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(isHeld ? SIG_BLOCK : SIG_UNBLOCK, &signals, nil)
    }

    /// Makes writes to a gone peer fail with `EPIPE` instead of ending the process.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    fileprivate func fire() { action() }
}

private func onSignal(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue().fire()
}
