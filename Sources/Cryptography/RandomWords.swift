// SPDX-License-Identifier: Apache-2.0

/// Unguessable words of 16 random bytes; they are made many at a time, because a call for one costs nearly as much.
package struct RandomWords: ~Copyable {
    private static let bytesOfWord = 16
    private static let wordsAtOnce = 64

    private var bytes: [UInt8] = []

    package init() {}

    /// A new word of 22 URL-safe characters.
    package mutating func next() -> String {
        if bytes.isEmpty { bytes = SecureRandom.bytes(Self.bytesOfWord * Self.wordsAtOnce) }
        let word = Array(bytes.suffix(Self.bytesOfWord))
        bytes.removeLast(Self.bytesOfWord)
        return Base64URL.encode(word)
    }
}
