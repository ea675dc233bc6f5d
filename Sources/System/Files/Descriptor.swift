// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open descriptor, closed by its one owner's deinit.
///
/// It is always close-on-exec, so that a child process does not keep our locks or files.
struct Descriptor: ~Copyable {
    let number: CInt
    private let path: String

    /// Opens `path` (`open`).
    ///
    /// - Throws: ``SystemError``.
    init(opening path: String, _ flags: CInt, mode: mode_t = 0) throws(SystemError) {
        try self.init(opening: FilePlace(path), flags, mode: mode)
    }

    /// Opens a file (`openat`).
    ///
    /// - Throws: ``SystemError``.
    init(opening place: FilePlace, _ flags: CInt, mode: mode_t = 0) throws(SystemError) {
        var number: CInt
        repeat {
            number = openat(place.base, place.name, flags | O_CLOEXEC, mode)
        } while number < 0 && errno == EINTR
        path = place.path
        guard number >= 0 else { throw .last(.open, path) }
        self.number = number
    }

    /// Takes over an open descriptor; `path` is used in errors only.
    init(number: CInt, path: String) {
        self.number = number
        self.path = path
    }

    deinit {
        close(number)
    }

    /// Reads the state of the file (`fstat`).
    ///
    /// - Throws: ``SystemError``.
    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last(.stat, path) }
        return FileStatus(status)
    }

    /// Reads from the current position to the end.
    ///
    /// - Parameter limit: the most bytes.
    /// - Returns: nil if there are more than `limit`.
    /// - Throws: ``SystemError``.
    func readAll(limit: Int) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            var count = 0
            var piece = [UInt8](unsafeUninitializedCapacity: min(limit + 1 - bytes.count, 65_536)) {
                repeat {
                    count = read(number, $0.baseAddress, $0.count)
                } while count < 0 && errno == EINTR
                $1 = max(0, count)
            }
            guard count >= 0 else { throw .last(.read, path) }
            if count == 0 { return bytes }
            bytes += piece
            // The file may hold a secret, and this copy of it goes.
            piece.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
        }
        return nil
    }

    /// Writes all bytes, in as many calls as it takes.
    ///
    /// - Throws: ``SystemError``, after which an unknown part is written.
    func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        if let code = Self.write(bytes, to: number).failure {
            throw SystemError(.write, path: path, code: code)
        }
    }

    /// Writes all bytes to a descriptor (`write`), and waits where it is non-blocking and full.
    ///
    /// - Returns: the number of bytes written, and the error number of the failure that prevented the rest.
    static func write(_ bytes: [UInt8], to number: CInt) -> (count: Int, failure: CInt?) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(number, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count >= 0 {
                written += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares our standard streams made them non-blocking.
                var interest = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                poll(&interest, 1, -1)
            case let code: return (written, code)
            }
        }
        return (written, nil)
    }

    /// Waits until the content is on the disk (`fsync`).
    ///
    /// - Throws: ``SystemError``; the content may be lost then, even if a second call succeeds.
    func synchronize() throws(SystemError) {
        guard fsync(number) == 0 else { throw .last(.fsync, path) }
    }
}
