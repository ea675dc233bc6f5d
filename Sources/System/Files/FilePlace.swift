// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The location of a file: a path, or a name in a directory that is held open and may have been renamed
/// since.
package struct FilePlace: Sendable {
    private let directory: OpenDirectory?
    /// The name argument of a call such as `openat`.
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

    /// The path; for a file in an open directory, the path when that was opened.
    package var path: String { directory.map { "\($0.path)/\(name)" } ?? name }

    package func appending(_ suffix: String) -> FilePlace {
        directory.map { FilePlace(name + suffix, in: $0) } ?? FilePlace(name + suffix)
    }

    /// The directory argument of a call such as `openat`; valid while this value exists.
    var base: CInt { directory?.number ?? AT_FDCWD }

    /// Waits until the names in the file's directory are on the disk (`fsync` of the directory).
    ///
    /// - Throws: ``SystemError``.
    func synchronizeDirectory() throws(SystemError) {
        if let directory { return try directory.synchronize() }
        guard let slash = name.lastIndex(of: "/") else { return try FileSystem.synchronize(directory: ".") }
        try FileSystem.synchronize(directory: slash == name.startIndex ? "/" : String(name[..<slash]))
    }
}
