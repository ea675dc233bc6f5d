// SPDX-License-Identifier: Apache-2.0

/// Builds the normal form of a path, segment by segment.
struct NormalForm {
    /// The segments so far, each after its slash; segments beyond the requested length are only counted.
    private(set) var bytes: [UInt8] = []
    private let length: Int
    private var uncut = 0
    /// The unfinished segment, as much of it as can matter.
    private var segment: [UInt8] = []
    private var isInParameters = false
    private var endsWithSlash = false

    /// - Parameter length: the number of bytes that are needed; the result may be longer.
    init(upTo length: Int) { self.length = length }

    /// Appends a byte to the segment; a semicolon begins parameters, which are left out.
    mutating func append(_ byte: UInt8) {
        if byte == Byte.semicolon { isInParameters = true }
        if !isInParameters, segment.count < max(length, 3) { segment.append(byte) }
    }

    /// Appends a byte to the segment, percent-encoded.
    mutating func appendEscape(of byte: UInt8) {
        append(Byte.percent)
        append(Byte.hexadecimalDigit(byte &>> 4))
        append(Byte.hexadecimalDigit(byte & 0xF))
    }

    /// Ends the segment: an empty one and `.` are dropped, `..` removes the one before.
    mutating func endSegment() {
        isInParameters = false
        endsWithSlash = true
        if segment.isEmpty { return }
        defer { segment.removeAll(keepingCapacity: true) }
        if segment[0] == Byte.dot, segment.count <= 2, segment[segment.count - 1] == Byte.dot {
            if segment.count == 2 { climb() }
            return
        }
        endsWithSlash = false
        guard bytes.count < length else { return uncut += 1 }
        bytes.append(Byte.slash)
        bytes += segment
    }

    private mutating func climb() {
        guard uncut == 0 else { return uncut -= 1 }
        while let last = bytes.popLast(), last != Byte.slash {}
    }

    mutating func finish() -> [UInt8] {
        endSegment()
        if endsWithSlash || bytes.isEmpty { bytes.append(Byte.slash) }
        return bytes
    }
}
