// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The sockets that whoever started the process opened for it, by systemd's protocol (sd_listen_fds(3)).
package struct PassedSockets: Sendable {
    /// One of them.
    package struct Entry: Equatable, Sendable {
        /// Its number in this process.
        package let descriptor: Int32
        /// `FileDescriptorName=` of the unit's socket; `unknown` where none was told.
        package let name: String
    }

    /// The first one's number; the others follow.
    private static let first: Int32 = 3
    /// More than any unit passes; a number beyond it is no count of sockets.
    private static let most: Int32 = 1024

    /// In the order in which they were passed.
    package let entries: [Entry]

    /// What the environment says was passed to this process, and to no other that left its variables to us.
    package init() {
        self.init(process: CurrentProcess.identifier, environment: CurrentProcess.environment)
    }

    /// - Parameters:
    ///   - process: our number, which `LISTEN_PID` must name.
    ///   - environment: the variable of a name.
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

    /// The numbers of those that have a name; several may.
    package func descriptors(named name: String) -> [Int32] {
        entries.filter { $0.name == name }.map(\.descriptor)
    }

    /// Keeps programs that we start from inheriting them.
    package func closeOnExec() {
        for entry in entries { _ = fcntl(entry.descriptor, F_SETFD, FD_CLOEXEC) }
    }
}
