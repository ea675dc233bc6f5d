// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that is open to be appended to, line by line; closed when nobody has it any more.
package final class OpenedFile: Sendable {
    private let descriptor: Descriptor
    private let path: String

    /// Opens a file to append to, made for us alone (0600) where there is none.
    ///
    /// - Throws: ``SystemError``; what is no file of its own (a directory, a pipe, a device) is `EINVAL`.
    package init(appendingTo path: String) throws(SystemError) {
        // Without O_NONBLOCK, opening a FIFO waits for a reader.
        let descriptor = try Descriptor(
            opening: path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, mode: 0o600)
        guard try descriptor.status().kind == .regular else {
            throw SystemError(.open, path: path, code: EINVAL)
        }
        self.descriptor = descriptor
        self.path = path
    }

    /// Writes whole lines at the end.
    ///
    /// A line that was not written whole leaves no part of it behind, unless somebody else has written behind it.
    ///
    /// - Returns: how many bytes of whole lines were written, and what kept the others out, if something did.
    func append(_ lines: [UInt8]) -> (written: Int, failure: SystemError?) {
        var written = 0
        while written < lines.count {
            let count = lines.withUnsafeBytes {
                write(descriptor.number, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count < 0 {
                if errno == EINTR { continue }
                let cause = SystemError.last(.write, path)
                return (takeBackTail(of: lines[..<written]), cause)
            }
            written += count
        }
        return (written, nil)
    }

    /// Takes the beginning of a line back off the end of the file.
    ///
    /// - Returns: how many bytes of whole lines stay.
    private func takeBackTail(of written: ArraySlice<UInt8>) -> Int {
        let whole = written.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let tail = off_t(written.count - whole)
        guard tail > 0 else { return whole }
        let end = lseek(descriptor.number, 0, SEEK_CUR)
        guard end >= tail, lseek(descriptor.number, 0, SEEK_END) == end else { return whole }
        ftruncate(descriptor.number, end - tail)
        return whole
    }
}
