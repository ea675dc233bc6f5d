// SPDX-License-Identifier: Apache-2.0

/// One identity of a store, held; given up by the holder's death as well.
public protocol StoreLock: Sendable {
    /// Lets others in; a second call does nothing.
    func release() async
}
