// SPDX-License-Identifier: Apache-2.0

import CBearerdTrace
import Glibc

/// Kills programs at a chosen system call.
package enum TracedProcess {
    /// True if the kernel allows tracing, which containers may forbid.
    package static let isPossible = (try? kill(["/bin/true"], atCall: 1)) != nil

    /// Runs a program and kills it before its `call`-th system call that changes files, takes locks or uses
    /// the network.
    ///
    /// - Returns: false if it ended before.
    package static func kill(_ arguments: [String], atCall call: Int) throws -> Bool {
        var pointers = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        let result = trace_until(&pointers, Int32(call))
        guard result >= 0 else { throw WireError("ptrace: error \(errno)") }
        return result == 1
    }
}
