// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

/// A head that goes out in nghttp2's form, pseudo-fields first (RFC 9113 §8.3).
///
/// Its pairs point to what lasts for ever, or to memory of ``OutgoingHeads``, which nghttp2 reads when it frames the head.
struct HeadPairs {
    /// The most pseudo-fields, and fields of our own, before the others.
    private static let pseudoFields = 6
    private static let isNotCopied = UInt8(
        NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
    private static let isInNoTable = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)

    /// Memory until the next head is made.
    private let pairs: UnsafeMutablePointer<nghttp2_nv>
    /// A copy of the fields' memory.
    private let block: UnsafeMutablePointer<UInt8>
    /// The next byte of the room behind it.
    private var room: UnsafeMutablePointer<UInt8>
    private let names: UnsafePointer<UnsafeMutablePointer<UInt8>>
    private(set) var count = 0

    var first: UnsafePointer<nghttp2_nv> { UnsafePointer(pairs) }

    /// A head without fields.
    ///
    /// - Parameters:
    ///   - fields: those that ``append(_:)-(HTTPFields)`` is to append.
    ///   - room: how many bytes of other values are to be copied.
    init(for fields: borrowing HTTPFields, room length: Int, in heads: borrowing OutgoingHeads) {
        let used = fields.block.count
        let memory = heads.take(used &+ length)
        pairs = heads.memory.memory(forPairs: Self.pseudoFields &+ fields.entries.count)
        names = heads.memory.names
        block = memory
        room = memory + used
        guard used > 0 else { return }
        fields.block.bytes.span.withUnsafeBufferPointer {
            guard let bytes = $0.baseAddress else { return }
            memory.update(from: bytes, count: used)
        }
    }

    /// Appends a field whose value is copied.
    ///
    /// - Parameter isInNoTable: true for what no table on its way may hold (RFC 7541 §7.1.3).
    mutating func append(_ name: StaticString, copying value: Span<UInt8>, isInNoTable: Bool = false) {
        let copy = room
        value.withUnsafeBufferPointer {
            guard let bytes = $0.baseAddress else { return }
            copy.update(from: bytes, count: $0.count)
        }
        room = copy + value.count
        append(name, copy, value.count, isInNoTable: isInNoTable)
    }

    mutating func append(_ name: StaticString, _ value: StaticString) {
        append(name, UnsafeMutablePointer(mutating: value.utf8Start), value.utf8CodeUnitCount)
    }

    /// - Parameter range: of the fields' memory.
    mutating func append(_ name: StaticString, at range: Range<Int>) {
        append(name, block + range.lowerBound, range.count)
    }

    /// Appends the three digits of a status code.
    mutating func append(status: Int) {
        let code = min(max(status, 100), 999)
        let digits = room
        digits[0] = Byte.zero &+ UInt8(truncatingIfNeeded: code / 100)
        digits[1] = Byte.zero &+ UInt8(truncatingIfNeeded: code / 10 % 10)
        digits[2] = Byte.zero &+ UInt8(truncatingIfNeeded: code % 10)
        room = digits + 3
        append(":status", digits, 3)
    }

    /// Appends those fields that messages of HTTP/2 may have.
    mutating func append(_ fields: HTTPFields) {
        let lines = fields.entries.memory.span
        for index in 0..<fields.entries.count where HTTPFields.isSent(lines[index]) {
            let line = lines[index]
            let length = Int(line.nameLength)
            // Each request has another identifier: the peer's table would hold nothing else.
            let isInNoTable =
                line.isNeverIndexed || line.number == KnownFieldName.xRequestID.rawValue
            append(
                line.number == 0 ? lowerCased(block + Int(line.nameStart), length) : names[Int(line.number)],
                length, block + Int(line.valueStart), Int(line.valueLength), isInNoTable: isInNoTable)
        }
    }

    /// Makes a name in the copied memory lower-case (RFC 9113 §8.2.1).
    private func lowerCased(
        _ name: UnsafeMutablePointer<UInt8>, _ length: Int
    ) -> UnsafeMutablePointer<UInt8> {
        for index in 0..<length { name[index] = name[index].asciiLowercased }
        return name
    }

    private mutating func append(
        _ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ valueLength: Int,
        isInNoTable: Bool = false
    ) {
        append(
            UnsafeMutablePointer(mutating: name.utf8Start), name.utf8CodeUnitCount, value, valueLength,
            isInNoTable: isInNoTable)
    }

    @inline(__always)
    private mutating func append(
        _ name: UnsafeMutablePointer<UInt8>, _ nameLength: Int, _ value: UnsafeMutablePointer<UInt8>,
        _ valueLength: Int, isInNoTable: Bool
    ) {
        (pairs + count).initialize(
            to: nghttp2_nv(
                name: name, value: value, namelen: nameLength, valuelen: valueLength,
                flags: isInNoTable ? Self.isNotCopied | Self.isInNoTable : Self.isNotCopied))
        count &+= 1
    }
}
