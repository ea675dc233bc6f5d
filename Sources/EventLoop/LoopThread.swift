// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdSystem
internal import Glibc

/// The thread that runs an ``EventLoop``.
///
/// `@unchecked Sendable`: `handle` is written once, in `init`.
package final class LoopThread: @unchecked Sendable {
    private var handle = pthread_t()

    init(running loop: EventLoop) throws(SystemError) {
        // Balanced by takeRetainedValue in the thread's first line.
        let context = Unmanaged.passRetained(loop).toOpaque()
        let status = pthread_create(&handle, nil, runLoop, context)
        guard status == 0 else {
            Unmanaged<EventLoop>.fromOpaque(context).release()
            throw SystemError(.createThread, code: status)
        }
    }

    /// Waits until the loop has stopped; call it once, from another thread.
    package func join() {
        pthread_join(handle, nil)
    }
}

private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let loop = Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
    bearerd_name_thread(loop.name)
    loop.run()
    return nil
}
