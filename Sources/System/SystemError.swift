// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call that failed.
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
    /// What it was tried on; empty if the call takes no path.
    package let path: String
    /// The value of `errno`.
    package let code: CInt

    package init(_ operation: Operation, path: String = "", code: CInt) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// The failure of the call that this thread made last.
    static func last(_ operation: Operation, _ path: String = "") -> SystemError {
        SystemError(operation, path: path, code: errno)
    }

    /// Whether there is no such file or directory.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// Whether we may not.
    package var isPermission: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// Whether a file is longer than it may be.
    package var isTooLarge: Bool { code == EFBIG }

    /// Whether the system has none left of what it hands out to processes: threads, descriptors, memory.
    package var isShortage: Bool { operation == .createThread || Self.isShortage(code) }

    /// Whether a value of `errno` says that there are no descriptors left, or no memory.
    package static func isShortage(_ code: CInt) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String {
        let place = path.isEmpty ? "" : " \(path)"
        return "\(operation.rawValue)\(place): \(SystemError.text(of: code))"
    }

    /// The system's words for a value of `errno` (`strerror_r`).
    package static func text(of code: CInt) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: start)
        }
    }
}
