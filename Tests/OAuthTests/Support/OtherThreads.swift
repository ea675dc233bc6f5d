// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Glibc

/// The threads of this process but the one that looks, as the kernel has them.
enum OtherThreads {
    /// Threads that sleep, each with how often it was put to sleep so far.
    private typealias Sleepers = [String: ArraySlice<UInt8>]

    /// Returns once there was a moment at which each of them slept, so that none had anything to do.
    ///
    /// It blocks its thread, because whatever it awaited would wake others.
    static func waitUntilIdle() {
        while !areIdle { usleep(100) }
    }

    /// True if each of them slept at one moment during this call.
    ///
    /// Two looks tell: whoever slept at both, and has not run in between, slept all the time. A thread that was woken
    /// and has not run yet does not sleep to the kernel.
    private static var areIdle: Bool {
        guard let before = sleepers else { return false }
        return sleepers == before
    }

    /// - Returns: nil if one of them does not sleep.
    private static var sleepers: Sleepers? {
        guard let (own, _) = try? FileSystem.read("/proc/thread-self/stat", limit: 1 << 16),
            let threads = try? FileSystem.names(in: "/proc/self/task")
        else { return nil }
        let mine = String(decoding: own.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        var sleepers: Sleepers = [:]
        for thread in threads where thread != mine {
            // It may have ended since.
            guard let (bytes, _) = try? FileSystem.read("/proc/self/task/\(thread)/status", limit: 1 << 16),
                let state = word(after: "State:\t", in: bytes.prefix(512))
            else { continue }
            guard state == UInt8(ascii: "S") else { return nil }
            // The last two lines count the times it stopped running.
            sleepers[thread] = bytes.suffix(64)
        }
        return sleepers
    }

    private static func word(after name: String, in bytes: ArraySlice<UInt8>) -> UInt8? {
        let name = Array(name.utf8)
        for start in bytes.indices where bytes[start...].starts(with: name) {
            return bytes.dropFirst(start - bytes.startIndex + name.count).first
        }
        return nil
    }
}
