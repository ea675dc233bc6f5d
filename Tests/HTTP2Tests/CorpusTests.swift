// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct `The corpus of HTTP2 frames` {
    private static let invariants: [(String, @Sendable ([UInt8]) -> String?)] = [
        ("HTTP2Requests", { Invariants.violation(http2Requests: $0) }),
        ("HTTP2Answers", { Invariants.violation(http2Answers: $0) }),
    ]

    @Test(arguments: 0..<2)
    func `the invariants of both sides hold for the corpus`(index: Int) throws {
        let (name, violation) = Self.invariants[index]
        for file in try Corpus.files(of: name) { #expect(violation(file.bytes) == nil, "\(file.name)") }
    }
}
