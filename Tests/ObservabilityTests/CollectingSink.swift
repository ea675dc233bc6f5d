// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Synchronization

/// A sink that keeps what is written to it.
final class CollectingSink: LineSink {
    private let bytes = Mutex<[UInt8]>([])

    func write(_ lines: [UInt8]) { bytes.withLock { $0 += lines } }

    /// Everything written so far.
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}
