// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent

/// A one-shot timer on an ``EventLoop``; use it only on the loop's thread.
package final class LoopTimer {
    private var event: OpaquePointer?
    private let action: () -> Void

    /// - Parameter action: called on the loop's thread each time the timer fires.
    package init(loop: EventLoop, action: @escaping () -> Void) {
        self.action = action
        let context = Unmanaged.passUnretained(self).toOpaque()  // freed in deinit: no callback outlives us
        event = loop.makeEvent(descriptor: -1, flags: 0, callback: onTimer, context: context)
    }

    deinit { if let event { event_free(event) } }

    /// Fires once after `delay`, instead of any firing set before.
    package func set(after delay: Duration) {
        guard let event else { return }
        var delay = timeval(delay)
        event_add(event, &delay)
    }

    /// Prevents firing until the timer is set again.
    package func cancel() {
        guard let event else { return }
        event_del(event)
    }

    fileprivate func fire() { action() }
}

private func onTimer(_: CInt, _: CShort, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue().fire()
}
