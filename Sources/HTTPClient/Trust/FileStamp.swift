// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What tells one state of a file from another.
struct FileStamp: Equatable {
    private var device: dev_t
    private var inode: ino_t
    private var size: off_t
    private var seconds: time_t
    private var nanoseconds: Int

    /// - Returns: nil for what cannot be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
