// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Another program that is started and left to itself.
package enum Program {
    /// The path of an executable file called `name`, as `PATH` finds it; nil if there is none.
    package static func find(_ name: String) -> String? {
        guard !name.contains("/") else { return isExecutable(name) ? name : nil }
        let directories = (CurrentProcess.environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return directories.lazy.map { "\($0)/\(name)" }.first(where: isExecutable)
    }

    private static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// Starts a program in a process group of its own, its input and output nowhere (`posix_spawn`).
    ///
    /// - Parameters:
    ///   - arguments: the program's path and its arguments; no shell sees them.
    ///   - environment: all that it gets.
    /// - Throws: ``SystemError``.
    package static func start(
        _ arguments: [String], environment: [String: String]
    ) throws(SystemError) {
        _ = try ChildProcess.start(arguments, environment: environment)
    }
}
