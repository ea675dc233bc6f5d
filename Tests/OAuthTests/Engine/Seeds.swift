// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The seeds that a model test runs with.
enum Seeds {
    /// A fixed few, or what the environment says.
    static var chosen: ClosedRange<UInt64> {
        if let one = number("BEARERD_MODEL_SEED") { return one...one }
        return 1...max(1, number("BEARERD_MODEL_SEEDS") ?? 5)
    }

    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
}
