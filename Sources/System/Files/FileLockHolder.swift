// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A process that holds a ``FileLock``.
package struct FileLockHolder: Equatable, Sendable {
    /// The process's number as seen here; a number from another host or container means nothing here.
    package let processID: Int32
    /// When it took the lock, in seconds since 1970; nil if unknown.
    package let since: Int64?
    /// A number for the next holder; see ``FileLock/note``.
    var note: Int64?

    static let longestLine = 64

    /// This process, holding the lock from now on.
    static var own: FileLockHolder {
        FileLockHolder(processID: getpid(), since: WallClock.sinceEpoch.components.seconds)
    }

    /// The line that the holder writes to the file.
    var line: String { "\(processID) \(since ?? 0)\(note.map { " \($0)" } ?? "")\n" }

    private init(processID: Int32, since: Int64?) {
        self.processID = processID
        self.since = since
    }

    /// Determines who holds the lock on a file.
    ///
    /// The kernel knows it (`/proc/locks`), except for holders on other hosts. The line in the file may have
    /// been left by a dead process.
    ///
    /// - Returns: nil if the holder cannot be determined.
    package static func of(_ place: FilePlace) -> FileLockHolder? {
        let written = (try? FileSystem.read(place, limit: longestLine, followingLink: false)).flatMap {
            parse($0.bytes)
        }
        guard let status = try? FileSystem.status(of: place, followingLink: false),
            let known = lockers(of: status.fingerprint.inode),
            let first = known.first
        else { return written }
        if let written, known.contains(written.processID) { return written }
        return FileLockHolder(processID: first, since: nil)
    }

    static func parse(_ bytes: [UInt8]) -> FileLockHolder? {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.split(whereSeparator: \.isWhitespace)
        guard 2...3 ~= words.count, let processID = Int32(words[0]), let since = Int64(words[1]),
            processID > 0,
            since > 0
        else { return nil }
        var holder = FileLockHolder(processID: processID, since: since)
        holder.note = words.count > 2 ? Int64(words[2]) : nil
        return holder
    }

    /// Reads `/proc/locks`, whose lines are like `1: FLOCK  ADVISORY  WRITE 1234 08:01:131 0 EOF`.
    private static func lockers(of inode: UInt64) -> [Int32]? {
        guard let table = try? FileSystem.read("/proc/locks", limit: 1 << 22) else { return nil }
        return String(decoding: table.bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(inode)"
            else {
                return nil
            }
            return Int32(words[4]).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension FileLockHolder: CustomStringConvertible {
    /// The holder for people: `process 1234 (bearerd), since 2026-11-22T11:50:00Z,`.
    package var description: String {
        let name = (try? FileSystem.read("/proc/\(processID)/comm", limit: 64)).map {
            " (" + String(decoding: $0.bytes.prefix { 0x21...0x7E ~= $0 }, as: UTF8.self) + ")"
        }
        let since = since.map { ", since \(CivilDate.text(ofUnixSecond: $0))Z," }
        return "process \(processID)\(name ?? "")\(since ?? "")"
    }
}
