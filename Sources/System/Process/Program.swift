// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Starts other programs without waiting for their end.
package enum Program {
    /// The path of an executable file called `name` according to `PATH`; nil if there is none.
    package static func find(_ name: String) -> String? {
        guard !name.contains("/") else { return isExecutable(name) ? name : nil }
        let directories = (CurrentProcess.environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return directories.lazy.map { "\($0)/\(name)" }.first(where: isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// Starts a program in a process group of its own, with `/dev/null` as input and output (`posix_spawn`).
    ///
    /// - Parameters:
    ///   - arguments: the program's path and its arguments; no shell interprets them.
    ///   - environment: its whole environment.
    /// - Throws: ``SystemError``.
    package static func start(
        _ arguments: [String], environment: [String: String]
    ) throws(SystemError) {
        _ = try ChildProcess.start(arguments, environment: environment)
    }
}
