// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How long tests go on whose worth grows with their length.
package enum Soak {
    /// `BEARERD_SOAK`; 1 for an ordinary run of the tests.
    package static let factor = getenv("BEARERD_SOAK").flatMap { Int(String(cString: $0)) } ?? 1
}
