// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop

/// A connection whose peer has sent everything already, and whose network cuts it where it is told.
final class PiecewiseWire: Wire {
    private let bytes: [UInt8]
    private var position = 0
    private var nextLength: () -> Int

    init(_ bytes: [UInt8], nextLength: @escaping () -> Int) {
        self.bytes = bytes
        self.nextLength = nextLength
    }

    /// Never, so that nobody waits for a descriptor that has no part in this.
    var drainsOnShortReceive: Bool { false }

    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        guard position < bytes.count else { return .end }
        let count = min(destination.count, bytes.count - position, max(1, nextLength()))
        destination.copyBytes(from: bytes[position..<(position + count)])
        position += count
        return .moved(count)
    }

    func send(_ source: UnsafeRawBufferPointer) -> WireResult { .moved(source.count) }

    func endSending() -> WireResult { .moved(0) }

    func close() {}
}
