// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Replaces the content behind a name so that readers, and a crash or power cut, find either the old or the
/// new content.
///
/// The steps can be taken one by one, so that a test can stop after each.
package struct FileReplacement: ~Copyable {
    /// The steps, in order.
    package enum Step: CaseIterable, Sendable {
        /// Writes the new content to a file of its own with mode 0600 (`open`, `write`).
        case write
        /// Waits until the new content is on the disk (`fsync`).
        case synchronize
        /// Gives the old content a second name (`link`, `rename`); a failure is ignored.
        case keepPrevious
        /// Gives the new content its name (`rename`).
        case publish
        /// Waits until the name is on the disk (`fsync` of the directory).
        case synchronizeDirectory
    }

    private let place: FilePlace
    private let previous: FilePlace?
    private let bytes: [UInt8]
    private var file: Descriptor?
    /// The fingerprint of the new file, from the first step on.
    package private(set) var fingerprint: FileFingerprint?

    /// - Parameters:
    ///   - place: the name; only one process at a time may replace it, which a ``FileLock`` ensures.
    ///   - bytes: the new content.
    ///   - previous: the second name for the old content, in the same directory.
    package init(of place: FilePlace, with bytes: [UInt8], keepingPreviousAs previous: FilePlace? = nil) {
        self.place = place
        self.bytes = bytes
        self.previous = previous
    }

    /// Takes all steps.
    ///
    /// - Returns: the fingerprint of the new file.
    /// - Throws: ``SystemError``; the old content is still there unless only the directory could not be
    ///   synchronized.
    package static func replace(
        _ place: FilePlace, with bytes: [UInt8], keepingPreviousAs previous: FilePlace? = nil
    ) throws(SystemError) -> FileFingerprint? {
        var replacement = FileReplacement(of: place, with: bytes, keepingPreviousAs: previous)
        do {
            for step in Step.allCases { try replacement.take(step) }
        } catch {
            // On a full disk the half-written file would take the place that the next try needs.
            try? FileSystem.remove(replacement.new)
            throw error
        }
        return replacement.fingerprint
    }

    /// Where the new content is until it has its name: a killed process leaves it there, whole or in part.
    package static func unfinished(_ place: FilePlace) -> FilePlace { place.appending(".new") }

    /// Takes the steps that are left of a replacement whose process was killed before ``Step/publish``; its content is whole.
    ///
    /// - Returns: the fingerprint of the new file.
    /// - Throws: ``SystemError``.
    package static func finish(
        _ place: FilePlace, keepingPreviousAs previous: FilePlace? = nil
    ) throws(SystemError) -> FileFingerprint? {
        var replacement = FileReplacement(of: place, with: [], keepingPreviousAs: previous)
        let file = try Descriptor(opening: replacement.new, O_RDONLY | O_NOFOLLOW)
        replacement.fingerprint = try file.status().fingerprint
        replacement.file = consume file
        for step in Step.allCases where step != .write { try replacement.take(step) }
        return replacement.fingerprint
    }

    /// Takes one step; the earlier ones must have been taken.
    ///
    /// - Throws: ``SystemError``.
    package mutating func take(_ step: Step) throws(SystemError) {
        switch step {
        case .write: try write()
        case .synchronize: try file?.synchronize()
        case .keepPrevious: keepPrevious()
        case .publish: try FileSystem.rename(new, to: place)
        case .synchronizeDirectory: try place.synchronizeDirectory()
        }
    }

    /// Replaces the content of a file where it stands, which needs no room on most file systems.
    ///
    /// Whoever reads meanwhile, or after a crash, may find a mixture of both.
    ///
    /// - Parameter bytes: the new content; as many as there are, or fewer.
    /// - Returns: the fingerprint of the file.
    /// - Throws: ``SystemError``; the old content may be there, or the mixture.
    package static func overwrite(
        _ place: FilePlace, with bytes: [UInt8]
    ) throws(SystemError) -> FileFingerprint {
        let file = try Descriptor(opening: place, O_WRONLY | O_NOFOLLOW)
        try file.writeAll(bytes)
        guard ftruncate(file.number, off_t(bytes.count)) == 0 else { throw .last(.write, place.path) }
        try file.synchronize()
        try place.synchronizeDirectory()
        return try file.status().fingerprint
    }

    /// Checks that a file could be replaced: a directory that can be read does not always accept new files.
    ///
    /// - Parameter size: the bytes to write; a full disk takes the name of a file, and nothing of what is to be in it.
    /// - Throws: ``SystemError``; nothing has changed.
    package static func rehearse(_ place: FilePlace, writing size: Int = 0) throws(SystemError) {
        var replacement = FileReplacement(of: place, with: [UInt8](repeating: 0, count: size))
        do throws(SystemError) {
            try replacement.take(.write)
        } catch {
            try? FileSystem.remove(replacement.new)
            throw error
        }
        try FileSystem.remove(replacement.new)
    }

    private var new: FilePlace { Self.unfinished(place) }

    private mutating func write() throws(SystemError) {
        // A killed process may have left one behind; O_EXCL below makes sure that the file is new and no link.
        try FileSystem.remove(new)
        let file = try Descriptor(opening: new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        // The umask may have taken even the owner's bits away.
        guard fchmod(file.number, 0o600) == 0 else { throw .last(.fchmod, new.path) }
        try file.writeAll(bytes)
        fingerprint = try file.status().fingerprint
        self.file = consume file
    }

    private func keepPrevious() {
        guard let previous else { return }
        let link = previous.appending(".new")
        try? FileSystem.remove(link)
        // link and rename rather than copy: it needs no space, and the second name is whole at every moment.
        if linkat(place.base, place.name, link.base, link.name, 0) == 0 {
            try? FileSystem.rename(link, to: previous)
        }
        // rename does nothing where both are names of one file already, as after a crash between these steps.
        try? FileSystem.remove(link)
    }
}
