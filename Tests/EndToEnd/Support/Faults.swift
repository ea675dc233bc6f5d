// SPDX-License-Identifier: Apache-2.0

import Glibc
import BearerdTestSupport

/// A library that makes calls of the system fail on demand, loaded into a process before the C library's own.
///
/// What fails is said by variables of the environment; see `Tests/Faults/faults.c`.
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

    /// What a process needs in its environment for these faults.
    static func environment(_ faults: [String: String]) throws -> [String: String] {
        faults.merging(["LD_PRELOAD": try built.get().1]) { $1 }
    }
}
