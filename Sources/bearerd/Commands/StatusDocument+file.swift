// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdSystem

extension StatusDocument {
    /// The configuration file of the daemon, if that is another one than `file`.
    ///
    /// - Returns: nil also where that cannot be told: an older daemon does not name its file, and one in a container names
    ///   a file that is not to be seen from here.
    func otherFile(than file: String) -> String? {
        guard let theirs = configurationFile, Self.isSame(theirs, as: file) == false else { return nil }
        return theirs
    }

    /// The directory in which the daemon keeps its sessions, if that is another one than `directory`.
    ///
    /// One that is not to be seen from here is another one.
    func otherStore(than directory: String) -> String? {
        guard let theirs = storeDirectory, theirs != directory, Self.isSame(theirs, as: directory) != true
        else { return nil }
        return theirs
    }

    /// - Returns: nil if one of them is not to be seen from here.
    private static func isSame(_ theirs: String, as own: String) -> Bool? {
        guard let other = FileSystem.fingerprint(of: theirs), let own = FileSystem.fingerprint(of: own)
        else { return nil }
        return own.isSameFile(as: other)
    }
}
