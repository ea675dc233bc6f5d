// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop

/// A connection whose bytes are always there, and which takes all that it is given.
final class EndlessWire: Wire {
    /// It ends here, so that a test does too.
    static let end = 256 << 20

    /// How many bytes were received and sent.
    private(set) var moved = 0
    private(set) var isClosed = false
    private let first: [UInt8]
    private let rest: [UInt8]
    private var received = 0

    /// Delivers `first`, then `rest` without end.
    init(first: String = "", rest: String) {
        self.first = Array(first.utf8)
        // Long, so that it is copied fast; whole, so that it can follow itself.
        self.rest = Array(String(repeating: rest, count: 1 + 65_536 / rest.utf8.count).utf8)
    }

    var drainsOnShortReceive: Bool { false }

    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        guard moved < Self.end else { return .end }
        let source: ArraySlice<UInt8>
        if received < first.count {
            source = first[received...]
        } else {
            source = rest[((received - first.count) % rest.count)...]
        }
        let count = min(source.count, destination.count)
        destination.copyBytes(from: source.prefix(count))
        received += count
        moved += count
        return .moved(count)
    }

    func send(_ source: UnsafeRawBufferPointer) -> WireResult {
        guard moved < Self.end else { return .failed(.reset) }
        let count = min(source.count, 1 << 18)  // nor does a kernel take more than its buffer holds
        moved += count
        return .moved(count)
    }

    func endSending() -> WireResult { .moved(0) }

    func close() { isClosed = true }
}
