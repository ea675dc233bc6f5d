// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@Suite struct `Words that are made many at a time` {
    @Test func `are 16 bytes each, and never the same`() {
        var words = RandomWords()
        let made = (0..<1000).map { _ in words.next() }
        #expect(made.allSatisfy { Base64URL.decode($0)?.count == 16 })
        #expect(Set(made).count == made.count)
        var others = RandomWords()
        #expect(!made.contains(others.next()))
    }
}
