// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc

extension Duration {
    /// Nanoseconds, none for a negative duration, at most a hundred years.
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 3_155_760_000)) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
    }
}

extension timeval {
    /// Rounds up to a microsecond, so that a positive duration never becomes a busy loop.
    init(_ duration: Duration) {
        let microseconds = (duration.wholeNanoseconds + 999) / 1_000
        self.init(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
