// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import Synchronization

extension EventLoop {
    /// Has `hear` told what libevent has to say of any loop, such as a descriptor that the kernel cannot watch.
    ///
    /// Before, and for ever without this call, libevent writes it to standard error (`event_set_log_callback`).
    ///
    /// - Parameter hear: runs on the thread of the loop; must not use one.
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
