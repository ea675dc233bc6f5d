// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import Synchronization

extension EventLoop {
    /// Passes libevent's own messages to `hear`, for instance about a descriptor that the kernel cannot
    /// watch.
    ///
    /// Without this call libevent writes them to standard error (`event_set_log_callback`).
    ///
    /// - Parameter hear: called on the thread of the loop, which it must not use.
    package static func hearMessages(_ hear: @escaping @Sendable (String) -> Void) {
        listener.withLock { $0 = hear }
        event_set_log_callback(onMessage)
    }
}

private let listener = Mutex<(@Sendable (String) -> Void)?>(nil)

private func onMessage(_: CInt, _ text: UnsafePointer<CChar>?) {
    guard let text else { return }
    let hear = listener.withLock { $0 }
    hear?(String(cString: text))
}
