// SPDX-License-Identifier: Apache-2.0

import OAuth
import Synchronization
import System

/// One identity's lock file, locked; the kernel lets go of it when the process dies.
final class FileStoreLock: StoreLock {
    private let file: Mutex<FileLock?>

    init(_ file: consuming FileLock) {
        self.file = Mutex(file)
    }

    /// Whether ``release()`` is still to come.
    var isHeld: Bool {
        file.withLock { file in
            switch file {
            case .some: true
            case .none: false
            }
        }
    }

    func release() {
        file.withLock { $0 = nil }
    }
}
