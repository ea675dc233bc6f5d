// SPDX-License-Identifier: Apache-2.0

/// A task that waits to be told yes or no.
///
/// It is resumed exactly once, by whoever keeps it, and nothing checks that: what the library's own check costs is a tenth
/// of what a connection does beside its requests.
package struct LoopContinuation: Sendable {
    fileprivate let continuation: UnsafeContinuation<Bool, Never>

    package func resume(returning answer: Bool) { continuation.resume(returning: answer) }

    /// Waits until somebody resumes what `body` was given.
    @inline(__always)
    package static func wait(_ body: (LoopContinuation) -> Void) async -> Bool {
        await withUnsafeContinuation { body(LoopContinuation(continuation: $0)) }
    }
}
