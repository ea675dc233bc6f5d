// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The kernel's figures for this process, for the `process_*` metrics.
package struct ProcessStatistics: Equatable, Sendable {
    /// CPU time, user and system, in seconds.
    package var cpuSeconds = 0.0
    package var residentBytes = 0
    package var virtualBytes = 0
    package var openDescriptors = 0
    /// The soft limit of open descriptors (`RLIMIT_NOFILE`).
    package var maximumDescriptors = 0
    package var threads = 0
    /// When the process started, in seconds since 1970.
    package var startSeconds = 0.0

    /// Reads the current figures (`/proc/self`); a figure that cannot be read is 0.
    package static func current() -> ProcessStatistics {
        var statistics = ProcessStatistics()
        let ticksPerSecond = Double(sysconf(CInt(_SC_CLK_TCK)))
        let fields = statusFields()
        // Numbered from 0 at the third field, `state`, of proc(5).
        if fields.count > 21 {
            statistics.cpuSeconds = ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) / ticksPerSecond
            statistics.threads = Int(fields[17]) ?? 0
            statistics.startSeconds = bootSeconds + (Double(fields[19]) ?? 0) / ticksPerSecond
            statistics.virtualBytes = Int(fields[20]) ?? 0
            statistics.residentBytes = (Int(fields[21]) ?? 0) * sysconf(CInt(_SC_PAGESIZE))
        }
        // One of the names is the directory that is being read.
        statistics.openDescriptors = max(0, ((try? FileSystem.names(in: "/proc/self/fd"))?.count ?? 0) - 1)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            statistics.maximumDescriptors = Int(clamping: limit.rlim_cur)
        }
        return statistics
    }

    private static func statusFields() -> [Substring] {
        guard let (bytes, _) = try? FileSystem.read("/proc/self/stat", limit: 4096) else { return [] }
        // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return [] }
        return String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
    }

    /// When the system started, in seconds since 1970, as it was found for the first time.
    ///
    /// The two clocks are read one after the other, and one of them may be set: what is computed anew changes by that, and
    /// would look like another process's start.
    private static let bootSeconds: Double = {
        var boot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &boot)
        return WallClock.secondsSinceEpoch - Double(boot.tv_sec) - Double(boot.tv_nsec) / 1e9
    }()
}
