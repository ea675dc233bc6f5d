// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A stream that the process was given; for commands, which may wait for their reader.
package enum StandardStream: Sendable {
    /// What was asked for.
    case output
    /// What went wrong.
    case error

    /// Writes all of a text (`write`).
    ///
    /// - Throws: ``SystemError``, as when the reader has gone or the disk is full.
    package func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }

    /// Writes all bytes (`write`).
    ///
    /// - Throws: ``SystemError``, as when the reader has gone or the disk is full.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw .last(.write)
            }
        }
    }

    private var descriptor: CInt {
        switch self {
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }
}
