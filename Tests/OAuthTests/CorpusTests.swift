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

    /// A short look for what the fuzzers search for at length.
    @Test func `the invariants hold for broken copies of the corpora`() throws {
        var random = SystemRandomNumberGenerator()
        for (fuzzer, violation) in [
            ("IDToken", { Invariants.violation(idToken: $0) }),
            ("Redirect", { Invariants.violation(redirect: $0) }),
        ] as [(String, ([UInt8]) -> String?)] {
            for file in try Corpus.files(of: fuzzer) where !file.bytes.isEmpty {
                for _ in 0..<40 {
                    var bytes = file.bytes
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        guard let index = bytes.indices.randomElement(using: &random) else { break }
                        switch Int.random(in: 0..<3, using: &random) {
                        case 0: bytes[index] = .random(in: .min ... .max, using: &random)
                        case 1: bytes.remove(at: index)
                        default: bytes.insert(contentsOf: bytes[..<index].suffix(8), at: index)
                        }
                    }
                    #expect(
                        violation(bytes) == nil, "\(file.name): \(String(decoding: bytes, as: UTF8.self))")
                }
            }
        }
    }

    @Test func `the invariants of redirects hold for the corpus`() throws {
        for file in try Corpus.files(of: "Redirect") {
            #expect(Invariants.violation(redirect: file.bytes) == nil, "\(file.name)")
        }
    }
}
