// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

/// Replays the fuzzer's seeds, and every input that ever broke an invariant.
@Suite struct `The corpus of YAML` {
    @Test func `the invariants of YAML hold for the corpus`() throws {
        for file in try Corpus.files(of: "YAML") {
            #expect(Invariants.violation(yaml: file.bytes) == nil, "\(file.name)")
        }
    }
}
