// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import Glibc

extension timeval {
    /// Rounds up to a microsecond, so that a positive duration never becomes a busy loop.
    init(_ duration: Duration) {
        let microseconds = (duration.wholeNanoseconds + 999) / 1_000
        self.init(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
