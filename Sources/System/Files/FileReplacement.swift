// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Puts new content behind a name so that a reader, a crash or a power cut sees the old or the new, never
/// less.
///
/// The steps can be taken one by one, so that a test can stop after each of them.
package struct FileReplacement: ~Copyable {
    /// The steps, in order.
    package enum Step: CaseIterable, Sendable {
        /// The new content is written under a name of its own, mode 0600 (`open`, `write`).
        case write
        /// The new content is on the disk (`fsync`).
        case synchronize
        /// The old content gets a second name (`link`, `rename`). Failing is no error: it is a convenience.
        case keepPrevious
        /// The new content takes the name (`rename`).
        case publish
        /// The name is on the disk (`fsync` of the directory).
        case synchronizeDirectory
    }

    private let place: FilePlace
    private let previous: FilePlace?
    private let bytes: [UInt8]
    private var file: Descriptor?
    /// What the new file will be known by, from the first step on.
    package private(set) var fingerprint: FileFingerprint?

    /// - Parameters:
    ///   - place: the name; only one process at a time may replace it, which is what a ``FileLock`` is for.
    ///   - bytes: the new content.
    ///   - previous: the second name for the old content, in the same directory.
    package init(of place: FilePlace, with bytes: [UInt8], keepingPreviousAs previous: FilePlace? = nil) {
        self.place = place
        self.bytes = bytes
        self.previous = previous
    }

    /// Takes every step.
    ///
    /// - Returns: what the new file is known by.
    /// - Throws: ``SystemError``; the old content stands, unless only its directory could not be
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

    /// Takes one step; the ones before it must have been taken.
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

    /// Finds out whether a file could be replaced: its directory need not take new files because it can be read.
    ///
    /// - Throws: ``SystemError``; nothing has changed.
    package static func rehearse(_ place: FilePlace) throws(SystemError) {
        var replacement = FileReplacement(of: place, with: [])
        try replacement.take(.write)
        try FileSystem.remove(replacement.new)
    }

    private var new: FilePlace { place.appending(".new") }

    private mutating func write() throws(SystemError) {
        // What a killed process left behind; O_EXCL below makes sure that the file is new and no link.
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
