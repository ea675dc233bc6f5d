// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Testing

@testable import BearerdObservability

/// Numbers as lines of the log and the metrics have them.
@Suite struct `A number in decimal` {
    private func text(_ value: UInt64, width: Int) -> String {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: 20) { $0.append(decimal: value, width: width) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 3, 6, 8, 9, 16, 20])
    func `has all its digits, and leading zeros up to its width`(width: Int) {
        var values: [UInt64] = [0, .max]
        var power: UInt64 = 1
        for _ in 0..<20 {
            values += [power &- 1, power, power &+ 1, power &* 5, power &* 9]
            power &*= 10
        }
        // Every number of four digits stands in each of the places where such numbers are taken apart.
        for four in 0..<10_000 as Range<UInt64> { values += [four, four * 10_000, four * 100_010_001] }
        for value in values {
            let digits = String(value)
            #expect(
                text(value, width: width)
                    == String(repeating: "0", count: max(0, width - digits.count)) + digits)
        }
    }
}
