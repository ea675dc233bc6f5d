// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The sockets that the starter of this process, such as systemd, has opened for it (sd_listen_fds(3)).
package struct PassedSockets: Sendable {
    /// A passed socket.
    package struct Entry: Equatable, Sendable {
        /// The descriptor's number in this process.
        package let descriptor: Int32
        /// The `FileDescriptorName=` of the socket's unit; `unknown` if there is none.
        package let name: String
    }

    /// The number of the first descriptor; the others follow.
    private static let first: Int32 = 3
    /// The largest plausible count; a larger one is ignored.
    private static let most: Int32 = 1024

    /// The sockets in the order in which they were passed.
    package let entries: [Entry]

    /// Reads the environment; variables that name another process are ignored.
    package init() {
        self.init(process: CurrentProcess.identifier, environment: CurrentProcess.environment)
    }

    /// - Parameters:
    ///   - process: our process number, which `LISTEN_PID` must equal.
    ///   - environment: returns the value of a variable.
    init(process: Int32, environment: (String) -> String?) {
        guard environment("LISTEN_PID").flatMap(Int32.init) == process,
            let count = environment("LISTEN_FDS").flatMap(Int32.init), (1...Self.most).contains(count)
        else {
            entries = []
            return
        }
        let names = environment("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false)
        entries = (0..<count).map { index in
            let name = names.flatMap { Int(index) < $0.count ? String($0[Int(index)]) : nil } ?? ""
            return Entry(descriptor: Self.first + index, name: name.isEmpty ? "unknown" : name)
        }
    }

    /// The descriptors with a name, of which there may be several.
    package func descriptors(named name: String) -> [Int32] {
        entries.filter { $0.name == name }.map(\.descriptor)
    }

    /// Makes the descriptors close-on-exec, so that child processes do not inherit them.
    package func closeOnExec() {
        for entry in entries { _ = fcntl(entry.descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
