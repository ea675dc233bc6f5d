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
    /// - Parameter arguments: the program's path and its arguments; no shell sees them.
    /// - Throws: ``SystemError``.
    package static func start(_ arguments: [String]) throws(SystemError) {
        guard let path = arguments.first else { throw SystemError(.spawn, code: EINVAL) }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for descriptor: CInt in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var ignored = sigset_t()
        sigemptyset(&ignored)
        posix_spawnattr_setsigmask(&attributes, &ignored)
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        let flags = CInt(POSIX_SPAWN_SETSIGMASK) | CInt(POSIX_SPAWN_SETSIGDEF) | CInt(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, CShort(flags))
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawn(&child, path, &actions, &attributes, &words, environ)
        guard code == 0 else { throw SystemError(.spawn, path: path, code: code) }
    }
}
