// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// What this process is and was given.
package enum CurrentProcess {
    /// The process number.
    package static var identifier: Int32 { getpid() }

    /// The words of the command line behind the program's name, as `main` got them; bytes that are not UTF-8 are
    /// replaced.
    package static var arguments: [String] {
        (1..<max(1, bearerd_argument_count())).compactMap { bearerd_argument($0).map { String(cString: $0) } }
    }

    /// Has `/dev/null` stand for standard input, output and error where they are closed: else the next file or socket
    /// would get their numbers, and be read or written as if it were them.
    ///
    /// - Throws: ``SystemError``.
    package static func openStandardStreams() throws(SystemError) {
        guard bearerd_open_standard_streams() == 0 else { throw .last(.open, "/dev/null") }
    }

    /// Gives back the pages of program text that only the start needed; every thread maps anew what it runs next.
    package static func dropText() { bearerd_drop_text() }

    /// Gives back free heap.
    package static func trimHeap() { bearerd_trim_heap() }

    /// How many processors it may use (`sched_getaffinity`), at least one.
    package static var coreCount: Int { max(1, Int(bearerd_core_count())) }

    /// The user whose rights we have (`geteuid`).
    package static var effectiveUser: UInt32 { geteuid() }

    /// The user on whose behalf sudo(8) runs us (`SUDO_UID`); nil without it.
    package static var sudoUser: UInt32? { environment("SUDO_UID").flatMap { UInt32($0) } }

    /// The working directory (`getcwd`); nil if it has no name any more.
    package static var workingDirectory: String? {
        guard let name = getcwd(nil, 0) else { return nil }
        defer { free(name) }
        return String(cString: name)
    }

    /// The machine's name; `localhost` if it has none.
    package static var hostName: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let start = buffer.baseAddress, gethostname(start, buffer.count - 1) == 0 else {
                return "localhost"
            }
            buffer[buffer.count - 1] = 0
            return String(cString: start)
        }
    }

    /// The variable `name` of the environment (`getenv`); bytes that are not UTF-8 are replaced.
    ///
    /// Safe from any thread because nothing of ours changes the environment.
    package static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Whether a person reads `descriptor` on a terminal (`isatty`); 2 is standard error.
    package static func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

    /// Forbids core dumps and debuggers of other processes of our user (`PR_SET_DUMPABLE` 0).
    ///
    /// - Throws: ``SystemError``.
    package static func forbidDumps() throws(SystemError) {
        guard bearerd_set_dumpable(0) == 0 else { throw .last(.prctl) }
    }

    /// Raises the soft limit of open descriptors to the hard one (`RLIMIT_NOFILE`); children get the old one back.
    ///
    /// - Throws: ``SystemError``.
    package static func raiseDescriptorLimit() throws(SystemError) {
        guard bearerd_raise_descriptor_limit() == 0 else { throw .last(.setrlimit) }
    }

    /// How many descriptors may be open at once (`RLIMIT_NOFILE`).
    package static var descriptorLimit: Int { bearerd_descriptor_limit() }

    /// How many more descriptors may be opened (`RLIMIT_NOFILE`), if none below the next one has been closed.
    package static var freeDescriptorCount: Int {
        // The kernel gives the lowest number that is free: so a number tells how many are in use.
        let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return 0 }
        close(next)
        return max(0, descriptorLimit - Int(next))
    }

    /// Lets a write to a closed connection fail with `EPIPE` instead of ending the process.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
