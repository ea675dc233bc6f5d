// SPDX-License-Identifier: Apache-2.0

/// Runs the `openssl` command, which knows nothing of the code under test.
///
/// - Returns: what it printed.
@discardableResult
package func openssl(_ arguments: [String]) throws -> String {
    let result = try Subprocess.run(["/usr/bin/openssl"] + arguments)
    guard result.ending == .exited(0) else { throw WireError("openssl: \(result.errors)") }
    return result.output
}
