// SPDX-License-Identifier: Apache-2.0

package import System

extension WallClock {
    /// Milliseconds since 1970, as log lines count them.
    package static var unixMilliseconds: Int64 {
        let (seconds, attoseconds) = sinceEpoch.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
