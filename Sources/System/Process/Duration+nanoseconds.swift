// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in nanoseconds: 0 for a negative one, at most a hundred years.
    package var wholeNanoseconds: UInt64 {
        // Nine seconds of attoseconds fit into 64 bits, and dividing those costs a tenth.
        if let attoseconds = Int64(exactly: attoseconds) {
            return attoseconds < 0 ? 0 : UInt64(attoseconds) / 1_000_000_000
        }
        let (seconds, attoseconds) = components
        guard seconds >= 0 else { return 0 }
        return UInt64(min(seconds, 3_155_760_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
    }
}
