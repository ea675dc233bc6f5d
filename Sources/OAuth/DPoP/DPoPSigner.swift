// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdExecutorConfinement

/// Signs the proofs of one session's requests to resource servers, on a thread of its own: a signature takes longer than
/// everything else that is done for a request.
package actor DPoPSigner: ExecutorConfined {
    package nonisolated let executor: any SerialExecutor
    private let clock: any SessionClock
    private var identifiers = RandomWords()
    /// The nonces of the resource servers.
    package nonisolated let nonces = DPoPNonces()

    init(executor: any SerialExecutor, clock: any SessionClock) {
        self.executor = executor
        self.clock = clock
    }

    /// The value of the field `DPoP`.
    ///
    /// - Throws: ``JOSEError``.
    package func sign(_ proof: DPoPProof) throws(JOSEError) -> String {
        try proof.signed(at: clock.wallNow, as: identifiers.next())
    }
}
