// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

/// Replays the fuzzers' seeds, and every input that ever broke an invariant.
@Suite struct `The corpus of provider answers` {
    private static let fuzzers: [(name: String, violation: @Sendable ([UInt8]) -> String?)] = [
        ("IDToken", { Invariants.violation(idToken: $0) }),
        ("Redirect", { Invariants.violation(redirect: $0) }),
        ("SourceAnswer", { Invariants.violation(sourceAnswer: $0) }),
        ("TokenAnswer", { Invariants.violation(tokenAnswer: $0) }),
        ("ProviderAnswer", { Invariants.violation(providerAnswer: $0) }),
        ("Discovery", { Invariants.violation(discovery: $0) }),
        ("HeldSecret", { Invariants.violation(heldSecret: $0) }),
        ("Challenge", { Invariants.violation(challenge: $0) }),
        ("ResourceRequest", { Invariants.violation(resourceRequest: $0) }),
    ]

    @Test func `the invariants hold for the corpora`() throws {
        for fuzzer in Self.fuzzers {
            for file in try Corpus.files(of: fuzzer.name) {
                #expect(fuzzer.violation(file.bytes) == nil, "\(fuzzer.name) \(file.name)")
            }
        }
    }

    /// A short look for what the fuzzers search for at length.
    @Test func `the invariants hold for broken copies of the corpora`() throws {
        var random = SeededGenerator(seed: 0x0A07_0000_0000_0003)
        for fuzzer in Self.fuzzers {
            for file in try Corpus.files(of: fuzzer.name) where !file.bytes.isEmpty {
                for _ in 0..<40 {
                    let bytes = Self.broken(file.bytes, using: &random)
                    #expect(
                        fuzzer.violation(bytes) == nil,
                        "\(fuzzer.name) \(file.name): \(String(decoding: bytes, as: UTF8.self))")
                }
            }
        }
    }

    private static func broken(
        _ whole: [UInt8], using random: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let index = bytes.indices.randomElement(using: &random) else { break }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = .random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(contentsOf: bytes[..<index].suffix(8), at: index)
            }
        }
        return bytes
    }
}
