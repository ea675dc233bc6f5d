// SPDX-License-Identifier: Apache-2.0

/// Keeps from libplist binary property lists that are no bounded tree.
///
/// libplist recurses, and builds anew what is referenced twice: a few hundred bytes could ask for more memory or
/// stack than there is. Archivers share strings and references, never containers. And it aborts the process at a key
/// with a U+0000.
struct BinaryShape {
    static let magic = Array("bplist00".utf8)
    /// More than any archive of a session has; bounds the depth too.
    static let maximumContainers = 4096
    /// The largest total size of strings and data; each counts as often as it is referenced.
    private static let maximumExpandedBytes = 16 << 20
    private static let trailerLength = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let root: Int
    private let table: Int

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerLength
        guard trailer > Self.magic.count else { throw .malformed }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = try Self.integer(in: bytes, at: trailer + 8, size: 8)
        root = try Self.integer(in: bytes, at: trailer + 16, size: 8)
        table = try Self.integer(in: bytes, at: trailer + 24, size: 8)
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, Self.magic.count..<trailer ~= table,
            root < objectCount, objectCount <= (trailer - table) / offsetSize
        else { throw .malformed }
    }

    /// Walks all objects once, reachable or not.
    func check() throws(PropertyListError) {
        var objects: [Object] = []
        objects.reserveCapacity(objectCount)
        for index in 0..<objectCount { objects.append(try object(index)) }

        var isReferenced = [Bool](repeating: false, count: objectCount)
        isReferenced[root] = true
        var (containers, references, expanded) = (0, 0, 0)
        for case .container(let start, let count) in objects {
            containers += 1
            references += count
            // Only objects that overlap have more references than the file has bytes.
            guard containers <= Self.maximumContainers, references <= bytes.count else { throw .tooComplex }
            for position in 0..<count {
                let child = try Self.integer(
                    in: bytes, at: start + position * referenceSize, size: referenceSize)
                guard child < objectCount else { throw .malformed }
                switch objects[child] {
                case .scalar(let length):
                    expanded += length
                case .container:
                    guard !isReferenced[child] else { throw .tooComplex }
                    isReferenced[child] = true
                }
            }
            guard expanded <= Self.maximumExpandedBytes else { throw .tooComplex }
        }
    }

    private enum Object {
        /// An array, set or dictionary: references to its keys and values, which begin at `start`.
        case container(start: Int, count: Int)
        case scalar(length: Int)
    }

    private func object(_ index: Int) throws(PropertyListError) -> Object {
        let offset = try Self.integer(in: bytes, at: table + index * offsetSize, size: offsetSize)
        guard Self.magic.count..<table ~= offset else { throw .malformed }
        var start = offset + 1
        var count = Int(bytes[offset] & 0x0F)
        let kind = bytes[offset] & 0xF0
        if count == 0x0F, kind >= 0x40 {
            // The count follows as an integer object of 2^n bytes.
            guard bytes[start] & 0xF0 == 0x10, bytes[start] & 0x0F <= 3 else { throw .malformed }
            let size = 1 << Int(bytes[start] & 0x0F)
            count = try Self.integer(in: bytes, at: start + 1, size: size)
            start += 1 + size
        }
        guard count <= bytes.count else { throw .malformed }
        switch kind {
        case 0xA0, 0xB0, 0xC0: return .container(start: start, count: count)
        case 0xD0...: return .container(start: start, count: 2 * count)
        case 0x50: return try text(at: start, count: count, unit: 1)
        case 0x60: return try text(at: start, count: count, unit: 2)
        default: return .scalar(length: count)
        }
    }

    /// A string of bytes, or of UTF-16, without U+0000.
    private func text(at start: Int, count: Int, unit: Int) throws(PropertyListError) -> Object {
        for position in 0..<count {
            let character = try Self.integer(in: bytes, at: start + position * unit, size: unit)
            guard character != 0 else { throw .malformed }
        }
        return .scalar(length: count * unit)
    }

    /// A big-endian number that fits an `Int` half its width, so that sums of two cannot overflow.
    private static func integer(
        in bytes: [UInt8], at offset: Int, size: Int
    ) throws(PropertyListError) -> Int {
        guard offset >= 0, offset <= bytes.count - size else { throw .malformed }
        var value: UInt64 = 0
        for byte in bytes[offset..<(offset + size)] { value = value << 8 | UInt64(byte) }
        guard let number = UInt32(exactly: value) else { throw .malformed }
        return Int(number)
    }
}
