// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How long tests go on whose worth grows with their length.
package enum Soak {
    /// `BEARERD_SOAK`; 1 for an ordinary run of the tests.
    package static let factor = number("BEARERD_SOAK") ?? 1

    /// `BEARERD_SOAK_REQUESTS`; nil for an ordinary run of the tests.
    package static let requests = number("BEARERD_SOAK_REQUESTS")

    private static func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }
}
