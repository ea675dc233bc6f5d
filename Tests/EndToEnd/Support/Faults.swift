// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// A library, preloaded into a process, that makes chosen system calls fail.
///
/// Environment variables choose the failures; see `Tests/Faults/faults.c`.
enum Faults {
    private static let built = Result {
        let directory = try TemporaryDirectory()
        let source = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
        let library = directory.path("faults.so")
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let result = try Subprocess.run(
            [
                "/bin/sh", "-c", "exec $(command -v clang || command -v cc) -shared -fPIC -o \"$0\" \"$1\"",
                library,
                "/\(source)/Faults/faults.c",
            ], environment: ["PATH": path])
        guard result.ending == .exited(0) else { throw WireError("no fault library: \(result.errors)") }
        return (directory, library)
    }

    /// The environment of a process with these failures.
    static func environment(_ faults: [String: String]) throws -> [String: String] {
        faults.merging(["LD_PRELOAD": try built.get().1]) { $1 }
    }
}
