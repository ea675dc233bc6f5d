// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdRedis

struct `A mark that is watched` {
    private let start = ContinuousClock.now

    /// What is known after looks at these seconds.
    private func watch(_ looks: [(mark: String, second: Int64)]) -> MarkWatch? {
        looks.reduce(nil) { before, look in
            MarkWatch(of: look.mark, at: start + .seconds(look.second), after: before, within: .seconds(5))
        }
    }

    @Test func `is abandoned once it was seen for a whole lease`() {
        let looks = (0...15).map { (mark: "1 a", second: Int64($0)) }
        #expect(watch(Array(looks.dropLast()))?.abandoned(after: .seconds(15)) == nil)
        #expect(watch(looks)?.abandoned(after: .seconds(15)) == "1 a")
    }

    @Test func `begins anew with another one, and where nobody looked for too long`() {
        #expect(
            watch([("1 a", 0), ("1 a", 5), ("1 b", 10), ("1 b", 15)])?.abandoned(after: .seconds(15)) == nil)
        #expect(
            watch([("1 a", 0), ("1 a", 6), ("1 a", 11), ("1 a", 16)])?.abandoned(after: .seconds(15)) == nil)
        #expect(
            watch([("1 a", 0), ("1 a", 5), ("1 a", 10), ("1 a", 15)])?.abandoned(after: .seconds(15)) == "1 a"
        )
    }
}
