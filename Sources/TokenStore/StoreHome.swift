// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// A directory with sessions, held open while it is used.
final class StoreHome {
    let directory: OpenDirectory
    var mark: EncryptionMark

    init(_ directory: OpenDirectory, sealer: any Sealer) {
        self.directory = directory
        mark = EncryptionMark(in: directory, sealer: sealer)
        directory.join()
    }

    func paths(of identity: String) -> StorePaths { StorePaths(of: identity, in: directory) }

    func isSame(as other: OpenDirectory) -> Bool {
        guard let ours = try? directory.status().fingerprint, let theirs = try? other.status().fingerprint
        else { return false }
        return ours.isSameFile(as: theirs)
    }
}
