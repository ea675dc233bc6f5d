// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// A weak reference that any thread may hold and only its loop's thread follows.
///
/// `@unchecked Sendable`: the object is reached only in ``post(_:)``, whose body the loop runs, and a weak
/// reference may be copied and dropped on any thread.
struct LoopReference<Object: AnyObject>: @unchecked Sendable {
    private weak var object: Object?
    private let loop: EventLoop

    init(_ object: Object, loop: EventLoop) {
        self.object = object
        self.loop = loop
    }

    /// Runs `body` soon on the loop's thread, unless the object is gone by then.
    func post(_ body: @escaping @Sendable (Object) -> Void) {
        loop.execute {
            guard let object else { return }
            body(object)
        }
    }
}
