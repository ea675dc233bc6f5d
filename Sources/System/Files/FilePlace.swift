// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a file is: behind a path, or behind a name in a directory that is held open, whatever that is called by now.
package struct FilePlace: Sendable {
    private let directory: OpenDirectory?
    /// The last argument of a call such as `openat`.
    let name: String

    /// A path, absolute or from the working directory.
    package init(_ path: String) {
        directory = nil
        name = path
    }

    init(_ name: String, in directory: OpenDirectory) {
        self.directory = directory
        self.name = name
    }

    /// The path; of a file in an open directory as it was when that was opened.
    package var path: String { directory.map { "\($0.path)/\(name)" } ?? name }

    /// The same place with a longer name.
    package func appending(_ suffix: String) -> FilePlace {
        directory.map { FilePlace(name + suffix, in: $0) } ?? FilePlace(name + suffix)
    }

    /// The first argument of such a call; good for as long as this value is.
    var base: CInt { directory?.number ?? AT_FDCWD }

    /// Returns once the names around it are on the disk (`fsync` of the directory).
    ///
    /// - Throws: ``SystemError``.
    func synchronizeDirectory() throws(SystemError) {
        if let directory { return try directory.synchronize() }
        guard let slash = name.lastIndex(of: "/") else { return try FileSystem.synchronize(directory: ".") }
        try FileSystem.synchronize(directory: slash == name.startIndex ? "/" : String(name[..<slash]))
    }
}
