// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The properties of this process.
package enum CurrentProcess {
    /// The process number.
    package static var identifier: Int32 { getpid() }

    /// The arguments of the command line without the program's name; bytes that are not UTF-8 are replaced.
    package static var arguments: [String] {
        (1..<max(1, bearerd_argument_count())).compactMap { bearerd_argument($0).map { String(cString: $0) } }
    }

    /// Opens `/dev/null` as standard input, output and error if these are closed.
    ///
    /// Otherwise the next file or socket would get their numbers, and be read or written by mistake.
    ///
    /// - Throws: ``SystemError``.
    package static func openStandardStreams() throws(SystemError) {
        guard bearerd_open_standard_streams() == 0 else { throw .last(.open, "/dev/null") }
    }

    /// Drops the mapped pages of the program's text; each is mapped again when it is next executed.
    package static func dropText() { bearerd_drop_text() }

    /// Returns free heap memory to the system.
    package static func trimHeap() { bearerd_trim_heap() }

    /// The number of processors that it may use (`sched_getaffinity`), at least one.
    package static var coreCount: Int { max(1, Int(bearerd_core_count())) }

    /// The user whose rights the process has (`geteuid`).
    package static var effectiveUser: UInt32 { geteuid() }

    /// The user who runs us through sudo(8) (`SUDO_UID`); nil without sudo.
    package static var sudoUser: UInt32? { environment("SUDO_UID").flatMap { UInt32($0) } }

    /// The working directory (`getcwd`); nil if it was removed.
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

    /// The environment variable `name` (`getenv`); bytes that are not UTF-8 are replaced.
    ///
    /// Any thread may call it, because the process never changes its environment.
    package static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns true if `descriptor` is a terminal (`isatty`); 2 is standard error.
    package static func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

    /// Forbids core dumps, and debugging by other processes of our user (`PR_SET_DUMPABLE` 0).
    ///
    /// - Throws: ``SystemError``.
    package static func forbidDumps() throws(SystemError) {
        guard bearerd_set_dumpable(0) == 0 else { throw .last(.prctl) }
    }

    /// Raises the soft limit of open descriptors to the hard one (`RLIMIT_NOFILE`); child processes get the
    /// old one.
    ///
    /// - Throws: ``SystemError``.
    package static func raiseDescriptorLimit() throws(SystemError) {
        guard bearerd_raise_descriptor_limit() == 0 else { throw .last(.setrlimit) }
    }

    /// The most descriptors that may be open at once (`RLIMIT_NOFILE`).
    package static var descriptorLimit: Int { bearerd_descriptor_limit() }

    /// The number of descriptors that may still be opened (`RLIMIT_NOFILE`), if there are no gaps among the
    /// open ones.
    package static var freeDescriptorCount: Int {
        // The kernel gives the lowest number that is free: so a number tells how many are in use.
        let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return 0 }
        close(next)
        return max(0, descriptorLimit - Int(next))
    }

    /// Makes writes to a closed connection fail with `EPIPE` instead of ending the process.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
