// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct CorpusTests {
    @Test func `the invariants of id tokens hold for the corpus`() throws {
        for file in try Corpus.files(of: "IDToken") {
            #expect(Invariants.violation(idToken: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of redirects hold for the corpus`() throws {
        for file in try Corpus.files(of: "Redirect") {
            #expect(Invariants.violation(redirect: file.bytes) == nil, "\(file.name)")
        }
    }
}
