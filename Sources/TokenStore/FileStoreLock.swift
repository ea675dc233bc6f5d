// SPDX-License-Identifier: Apache-2.0

import Synchronization
import System

/// One identity's lock file, locked; the kernel lets go of it when the process dies.
final class FileStoreLock: Sendable {
    private struct State: ~Copyable {
        var file: FileLock?
        var isHeld = true
    }

    private let state: Mutex<State>

    /// - Parameter file: nil in a directory that nobody else can use.
    init(_ file: consuming FileLock?) {
        state = Mutex(State(file: file))
    }

    /// Whether ``release()`` is still to come.
    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// Lets others in; a second call does nothing.
    func release() {
        state.withLock { state in
            state.file = nil
            state.isHeld = false
        }
    }
}
