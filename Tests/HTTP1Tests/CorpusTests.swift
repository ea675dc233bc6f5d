// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct CorpusTests {
    @Test func `the invariants of request heads hold for the corpus`() throws {
        for file in try Corpus.files(of: "RequestHead") {
            #expect(Invariants.violation(requestHead: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of response heads hold for the corpus`() throws {
        for file in try Corpus.files(of: "ResponseHead") {
            #expect(Invariants.violation(responseHead: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of chunked coding hold for the corpus`() throws {
        for file in try Corpus.files(of: "Chunked") {
            #expect(Invariants.violation(chunked: file.bytes) == nil, "\(file.name)")
        }
    }

    @Test func `the invariants of whole connections hold for the corpus`() throws {
        for file in try Corpus.files(of: "Connection") {
            #expect(Invariants.violation(connection: file.bytes) == nil, "\(file.name)")
        }
    }
}
