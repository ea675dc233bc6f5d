// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct `The corpus of messages` {
    private static let invariants: [(String, @Sendable ([UInt8]) -> String?)] = [
        ("RequestHead", { Invariants.violation(requestHead: $0) }),
        ("ResponseHead", { Invariants.violation(responseHead: $0) }),
        ("Chunked", { Invariants.violation(chunked: $0) }),
        ("Connection", { Invariants.violation(connection: $0) }),
    ]

    @Test(arguments: 0..<4)
    func `the invariants of messages hold for the corpus`(index: Int) throws {
        let (name, violation) = Self.invariants[index]
        for file in try Corpus.files(of: name) { #expect(violation(file.bytes) == nil, "\(file.name)") }
    }
}
