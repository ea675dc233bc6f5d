// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A program that a test started; it never outlives the test process, nor the object.
package final class Subprocess: Sendable {
    /// How a program ended.
    package enum Termination: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// Its process id.
    package let processID: pid_t
    /// The captured standard output.
    package let output = Monitor(Capture())
    /// The captured standard error.
    package let errors = Monitor(Capture())
    private let ending = Monitor<Termination?>(nil)

    /// Bytes captured from a pipe.
    package struct Capture: Sendable {
        /// All bytes so far.
        package var bytes: [UInt8] = []
        /// True once the pipe is at its end.
        package var isAtEnd = false

        /// The bytes as text.
        package var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Starts a program with exactly this environment, plus `PATH`, `HOME` and the variables of sanitizers.
    ///
    /// - Parameter passed: descriptors that the program gets as 3, 4 and so on.
    package init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        passing passed: [Int32] = []
    ) throws {
        var all = environment
        all["PATH"] = all["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        all["HOME"] = all["HOME"] ?? "/nonexistent"
        for name in Sanitizer.variables { all[name] = getenv(name).map { String(cString: $0) } }
        // The kernel kills the child when the thread that made it ends: so a thread that never ends makes it.
        let guarded =
            ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
            + (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + arguments
        let variables = all.map { "\($0.key)=\($0.value)" }
        let child = try SpawnThread.shared.spawn { try Subprocess.spawn(guarded, variables, passed) }
        processID = child.processID
        for (descriptor, capture) in [(child.output, output), (child.errors, errors)] {
            startThread { Subprocess.pump(descriptor, into: capture) }
        }
        startThread { [processID, ending] in
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
            let signal = status & 0x7F
            let result: Termination = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
            ending.withLock { $0 = result }
        }
    }

    deinit {
        if ending.withLock({ $0 == nil }) { kill(processID, SIGKILL) }
    }

    /// Sends a signal, unless the program has ended.
    package func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(processID, number) } }
    }

    /// True while the program runs.
    package var isRunning: Bool { ending.withLock { $0 == nil } }

    /// Waits for the program's end.
    package func waitForEnd(within limit: Duration = patience) throws -> Termination {
        let result = try ending.wait(for: "the process to end", within: limit) { $0 }
        for capture in [output, errors] {
            try capture.wait(for: "the end of its output", within: limit) { $0.isAtEnd ? () : nil }
        }
        return result
    }

    /// Runs a program to its end.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        within limit: Duration = patience
    ) throws -> (ending: Termination, output: String, errors: String) {
        let process = try Subprocess(arguments, environment: environment, directory: directory)
        let ending = try process.waitForEnd(within: limit)
        return (ending, process.output.withLock { $0.text }, process.errors.withLock { $0.text })
    }

    private static func makePipe() throws -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SocketError(operation: "pipe", code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func pump(_ descriptor: Int32, into capture: Monitor<Capture>) {
        var part = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &part, part.count), count > 0 || (count < 0 && errno == EINTR)
        {
            capture.withLock { $0.bytes += part[..<max(count, 0)] }
        }
        close(descriptor)
        capture.withLock { $0.isAtEnd = true }
    }

    fileprivate struct Child: Sendable {
        let processID: pid_t
        let output: Int32
        let errors: Int32
    }

    /// Runs on the spawning thread alone, so that no other child inherits the pipes.
    private static func spawn(
        _ arguments: [String], _ variables: [String], _ passed: [Int32]
    ) throws -> Child {
        let (outputEnd, outputPipe) = try makePipe()
        let (errorEnd, errorPipe) = try makePipe()
        defer {
            close(outputPipe)
            close(errorPipe)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, outputPipe, 1)
        posix_spawn_file_actions_adddup2(&actions, errorPipe, 2)
        // Copies above all of them first: a number may be another's goal.
        let copies = passed.map { fcntl($0, F_DUPFD_CLOEXEC, 512) }
        defer { copies.forEach { close($0) } }
        for (index, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, Int32(3 + index))
        }
        // Whatever the test runner ignores or blocks, the child starts with the defaults.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for string in argv + environment { free(string) } }
        var processID = pid_t()
        let result = posix_spawn(&processID, arguments[0], &actions, &attributes, &argv, &environment)
        guard result == 0 else { throw SocketError(operation: "posix_spawn \(arguments[0])", code: result) }
        return Child(processID: processID, output: outputEnd, errors: errorEnd)
    }
}

/// The one thread that starts children.
private final class SpawnThread: Sendable {
    static let shared = SpawnThread()

    private let jobs = Monitor<[@Sendable () -> Void]>([])

    private init() {
        startThread { [jobs] in
            while true {
                let job = try? jobs.wait(for: "a child to start", within: .seconds(86_400)) { jobs in
                    jobs.isEmpty ? nil : jobs.removeFirst()
                }
                job?()
            }
        }
    }

    func spawn(_ body: @escaping @Sendable () throws -> Subprocess.Child) throws -> Subprocess.Child {
        let outcome = Monitor<Result<Subprocess.Child, any Error>?>(nil)
        jobs.withLock { jobs in
            jobs.append {
                let result = Result { try body() }
                outcome.withLock { $0 = result }
            }
        }
        return try outcome.wait(for: "a child to start") { $0 }.get()
    }
}
