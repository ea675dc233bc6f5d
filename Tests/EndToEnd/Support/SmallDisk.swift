// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// A file system (tmpfs) of 64 KiB.
final class SmallDisk {
    fileprivate static let isPossible: Bool = {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        return (try? SmallDisk(at: directory.path("disk"))) != nil
    }()

    private let path: String

    init(at path: String) throws {
        self.path = path
        mkdir(path, 0o700)
        let mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", path]
        guard try Subprocess.run(mount).ending == .exited(0) else { throw WireError("no tmpfs at \(path)") }
    }

    deinit { _ = try? Subprocess.run(["/usr/bin/umount", "-l", path]) }

    /// Fills the file system completely.
    func fill() {
        let filler = open("\(path)/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(filler, block, block.count) > 0 {}
        close(filler)
    }

    /// Has the file system take no writes, as after an error of the disk.
    func makeReadOnly() throws {
        let mount = ["/usr/bin/mount", "-o", "remount,ro", path]
        // Somebody may have a file open for writing for an instant.
        try eventually("\(path) to be read-only") { try Subprocess.run(mount).ending == .exited(0) }
    }

    func makeRoom() { unlink("\(path)/filler") }

    /// The content of all files.
    var everything: String {
        TemporaryDirectory.entries(of: path).map { name in
            String(decoding: TemporaryDirectory.contents(of: "\(path)/\(name)"), as: UTF8.self)
        }.joined()
    }
}

extension Needs {
    /// To mount a file system.
    static let smallDisk = Needs(orElse: "only root mounts a tmpfs") { SmallDisk.isPossible }
}
