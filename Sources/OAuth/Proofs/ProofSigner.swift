// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import ExecutorConfinement

/// Signs the proofs of one session's requests to resource servers, on a thread where that keeps nobody waiting: a
/// signature takes longer than all else that is done for a request.
package actor ProofSigner: ExecutorConfined {
    package nonisolated let executor: any SerialExecutor
    private let clock: any SessionClock
    private var identifiers = RandomWords()
    /// What the resource servers want to see.
    package nonisolated let nonces = ProofNonces()

    init(executor: any SerialExecutor, clock: any SessionClock) {
        self.executor = executor
        self.clock = clock
    }

    /// The value of the field `DPoP`.
    ///
    /// - Throws: ``JOSEError``.
    package func sign(_ proof: Proof) throws(JOSEError) -> String {
        try proof.signed(at: clock.wallNow, as: identifiers.next())
    }
}
