// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A failed system call.
package struct SystemError: Error, Equatable, Sendable {
    /// The call that failed, spelled as in its manual page.
    package enum Operation: String, Sendable {
        case open, read, write, fsync, rename, link, unlink, mkdir, stat, flock, chmod, fchmod, opendir,
            prctl,
            setrlimit, landlock, socket, send,
            spawn = "posix_spawn", wait = "waitpid", createThread = "pthread_create",
            socketDiagnosis = "sock_diag"
    }

    package let operation: Operation
    /// The path of the call; empty if it takes none.
    package let path: String
    /// The value of `errno`.
    package let code: CInt

    package init(_ operation: Operation, path: String = "", code: CInt) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// The failure of this thread's last call.
    static func last(_ operation: Operation, _ path: String = "") -> SystemError {
        SystemError(operation, path: path, code: errno)
    }

    /// True if there is no such file or directory (`ENOENT`, `ENOTDIR`).
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// True if the permission is lacking (`EACCES`, `EPERM`, `EROFS`).
    package var isPermission: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// True if the file system takes no writes from anybody (`EROFS`).
    package var isReadOnly: Bool { code == EROFS }

    /// True if the file system, or its user's share of it, has no room left (`ENOSPC`, `EDQUOT`).
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }

    /// True if a file is longer than allowed (`EFBIG`).
    package var isTooLarge: Bool { code == EFBIG }

    /// True if the system has no thread, descriptor or memory left.
    package var isShortage: Bool { operation == .createThread || Self.isShortage(code) }

    /// Returns true if `code` says that there are no descriptors or no memory left.
    package static func isShortage(_ code: CInt) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String {
        let place = path.isEmpty ? "" : " \(path)"
        return "\(operation.rawValue)\(place): \(SystemError.text(of: code))"
    }

    /// The system's text for a value of `errno` (`strerror_r`).
    package static func text(of code: CInt) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: start)
        }
    }
}
