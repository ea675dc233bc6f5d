// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Standard output or standard error, for commands, which may wait for their reader.
package enum StandardStream: Sendable {
    /// For the result of a command.
    case output
    /// For errors and messages.
    case error

    /// Writes a whole text (`write`).
    ///
    /// - Throws: ``SystemError``, for instance if the reader has gone or the disk is full.
    package func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }

    /// Writes all bytes (`write`).
    ///
    /// - Throws: ``SystemError``, for instance if the reader has gone or the disk is full.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = Descriptor.write(bytes, to: descriptor).failure {
            throw SystemError(.write, code: code)
        }
    }

    private var descriptor: CInt {
        switch self {
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }
}
