// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

/// Replays the fuzzer's seeds, and every input that ever broke an invariant.
@Suite struct `The corpus of requests to the admin listener` {
    @Test func `breaks no invariant`() throws {
        for file in try Corpus.files(of: "AdminRequest") {
            #expect(Invariants.violation(adminRequest: file.bytes) == nil, "\(file.name)")
        }
    }
}
