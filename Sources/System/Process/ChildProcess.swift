// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// Runs other programs without a shell.
package enum ChildProcess {
    /// The way in which a program ended.
    package enum Termination: Equatable, Sendable {
        case exited(Int32)
        /// A signal ended it; the value is its number.
        case signalled(Int32)
        /// We killed it and all of its children, because it took too long.
        case killed
    }

    /// Runs a program and waits for its end; blocks.
    ///
    /// It inherits none of our descriptors; its input and output are `/dev/null`.
    ///
    /// - Parameters:
    ///   - command: the program, searched on `PATH` unless it contains a slash, and its arguments.
    ///   - environment: its whole environment.
    ///   - limit: the time after which it is killed.
    /// - Returns: how it ended.
    /// - Throws: ``SystemError`` if it cannot be started.
    package static func run(
        _ command: [String], environment: [String: String], limit: Duration
    ) throws(SystemError) -> Termination {
        let process = try start(command, environment: environment)
        var status: CInt = 0
        let wasKilled = bearerd_await(process, CInt(clamping: limit.components.seconds * 1000), &status)
        guard wasKilled >= 0 else { throw .last(.wait, command[0]) }
        if wasKilled == 1 { return .killed }
        // As WIFEXITED, WEXITSTATUS and WTERMSIG take it apart.
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }

    /// Runs a program and collects its standard output; blocks.
    ///
    /// It inherits none of our descriptors, and its input is `/dev/null`.
    ///
    /// - Parameters:
    ///   - command: as for ``run(_:environment:limit:)``.
    ///   - environment: its whole environment.
    ///   - limit: the time after which it is killed.
    ///   - longest: the most bytes to read; a program that writes more is killed.
    /// - Returns: the output; `isWhole` is true if the program closed it in time.
    /// - Throws: ``SystemError`` if it cannot be started.
    package static func output(
        of command: [String], environment: [String: String], limit: Duration, longest: Int
    ) throws(SystemError) -> (bytes: [UInt8], isWhole: Bool) {
        var end: CInt = -1
        let process = try spawn(command, environment) { bearerd_spawn_reading($0, $1, $2, &end) }
        let pipe = Descriptor(number: end, path: "pipe")
        var count = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { buffer, initialized in
            count = bearerd_collect(
                pipe.number, buffer.baseAddress, buffer.count, CInt(clamping: Int(limit / .milliseconds(1))))
            initialized = max(0, count)
        }
        // A program that has closed its output may end by itself; any other is killed at once.
        let isWhole = (0..<longest).contains(count)
        var status: CInt = 0
        _ = bearerd_await(process, isWhole ? ending : 0, &status)
        return (bytes, isWhole)
    }

    /// How long a program may run after it has closed its output, in milliseconds.
    private static let ending: CInt = 100

    /// The path of an executable file called `name` according to `PATH`; nil if there is none.
    package static func find(_ name: String) -> String? {
        guard !name.contains("/") else { return isExecutable(name) ? name : nil }
        let directories = (CurrentProcess.environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return directories.lazy.map { "\($0)/\(name)" }.first(where: isExecutable)
    }

    /// Why a program called `name` cannot be run, in words after that name; nil if it can.
    package static func obstacle(to name: String) -> String? {
        guard find(name) == nil else { return nil }
        guard name.contains("/") else { return "is in no directory of PATH as a program that may be run" }
        let found: FileStatus?
        do throws(SystemError) {
            found = try FileSystem.status(of: name)
        } catch {
            return error.isMissing
                ? "is not there" : "cannot be looked at: \(SystemError.text(of: error.code))"
        }
        guard let status = found else { return "is not there" }
        switch status.kind {
        case .directory: return "is a directory, and no program"
        case .regular: return "may not be run: it lacks the permission to execute (chmod +x)"
        case .symbolicLink, .socket, .other: return "is no program"
        }
    }

    private static func isExecutable(_ path: String) -> Bool {
        access(path, X_OK) == 0 && (try? FileSystem.status(of: path))?.kind == .regular
    }

    /// Starts a program whose end need not be awaited, with `/dev/null` as input and output.
    ///
    /// - Returns: its process number.
    /// - Throws: ``SystemError``.
    @discardableResult
    package static func start(
        _ command: [String], environment: [String: String]
    ) throws(SystemError) -> Int32 {
        try spawn(command, environment) { bearerd_spawn($0, $1, $2, -1) }
    }

    /// An array of C strings that ends with a null pointer.
    private typealias CStrings = UnsafePointer<UnsafeMutablePointer<CChar>?>

    private static func spawn(
        _ command: [String], _ environment: [String: String],
        _ call: (UnsafeMutablePointer<pid_t>, CStrings, CStrings) -> CInt
    ) throws(SystemError) -> pid_t {
        precondition(!command.isEmpty, "a command has a program")
        var process: pid_t = 0
        let failure = withCStrings(command) { arguments in
            withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                call(&process, arguments, environment)
            }
        }
        guard failure == 0 else { throw SystemError(.spawn, path: command[0], code: failure) }
        return process
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ use: (CStrings) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("there is the null pointer") }
            return use(start)
        }
    }
}
