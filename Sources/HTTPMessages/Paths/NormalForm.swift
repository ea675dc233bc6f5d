// SPDX-License-Identifier: Apache-2.0

/// A path as it is when everything in it has been resolved, made segment by segment.
struct NormalForm {
    /// The segments so far, each behind its slash; those that begin beyond the length that is asked for are counted.
    private(set) var bytes: [UInt8] = []
    private let length: Int
    private var uncut = 0
    /// The segment that has not ended, as much of it as can matter.
    private var segment: [UInt8] = []
    private var isInParameters = false
    private var endsWithSlash = false

    /// - Parameter length: how many bytes are asked for; there may be more.
    init(upTo length: Int) {
        self.length = length
    }

    /// Appends a byte to the segment; a semicolon begins its parameters, which are left out.
    mutating func append(_ byte: UInt8) {
        if byte == Byte.semicolon { isInParameters = true }
        if !isInParameters, segment.count < max(length, 3) { segment.append(byte) }
    }

    /// Ends the segment: an empty one and `.` are nothing, `..` takes the one before away.
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

    /// Ends the path.
    mutating func finish() -> [UInt8] {
        endSegment()
        if endsWithSlash || bytes.isEmpty { bytes.append(Byte.slash) }
        return bytes
    }
}
