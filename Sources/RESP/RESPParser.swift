// SPDX-License-Identifier: Apache-2.0

/// Reads one value from the beginning of the received bytes.
///
/// Strict, and bounded in everything that the peer decides: allocates nothing for bytes that have not arrived.
package struct RESPParser: Sendable {
    package static let longestLine = 16 << 10
    static let longestString = 8 << 20
    /// The most values in an array, nested ones included.
    static let longestArray = 4096
    /// The longest value, in bytes: an array with everything in it.
    static let longestValue = longestString + longestLine
    /// The deepest nesting of arrays.
    static let deepest = 4

    private static let longestNumber = 20

    private var position = 0
    /// The number of values in arrays, announced ones included.
    private var valueCount = 0

    /// Reads the value at the beginning of `bytes`.
    ///
    /// - Returns: the value and its length in bytes; nil if it is not complete yet.
    /// - Throws: ``RESPError``; the bytes that follow mean nothing then.
    package static func parse(
        _ bytes: Span<UInt8>
    ) throws(RESPError) -> (value: RESPValue, length: Int)? {
        var parser = RESPParser()
        guard let value = try parser.value(in: bytes, depth: 0) else { return nil }
        return (value, parser.position)
    }

    private mutating func value(in bytes: Span<UInt8>, depth: Int) throws(RESPError) -> RESPValue? {
        guard position < bytes.count else { return nil }
        let kind = bytes[position]
        position += 1
        switch kind {
        case UInt8(ascii: "+"): return try line(in: bytes).map { .status(Self.copy(bytes, $0)) }
        case UInt8(ascii: "-"): return try line(in: bytes).map { .error(Self.copy(bytes, $0)) }
        case UInt8(ascii: ":"): return try number(in: bytes).map { .integer($0) }
        case UInt8(ascii: "$"): return try string(in: bytes)
        case UInt8(ascii: "*"): return try array(in: bytes, depth: depth)
        default: throw .unknownKind
        }
    }

    private mutating func string(in bytes: Span<UInt8>) throws(RESPError) -> RESPValue? {
        guard let length = try length(in: bytes, atMost: Self.longestString) else { return nil }
        guard length >= 0 else { return .null }
        let end = position + length
        guard end <= Self.longestValue else { throw .tooLong }
        guard end + 2 <= bytes.count else {
            // The part of the line end that has arrived must be correct.
            if end < bytes.count, bytes[end] != UInt8(ascii: "\r") { throw .malformed }
            return nil
        }
        guard bytes[end] == UInt8(ascii: "\r"), bytes[end + 1] == UInt8(ascii: "\n") else { throw .malformed }
        defer { position = end + 2 }
        return .bytes(Self.copy(bytes, position..<end))
    }

    private mutating func array(in bytes: Span<UInt8>, depth: Int) throws(RESPError) -> RESPValue? {
        guard depth < Self.deepest else { throw .tooDeep }
        guard let count = try length(in: bytes, atMost: Self.longestArray) else { return nil }
        guard count >= 0 else { return .null }
        valueCount += count
        guard valueCount <= Self.longestArray else { throw .tooLong }
        var values: [RESPValue] = []
        for _ in 0..<count {
            guard let value = try value(in: bytes, depth: depth + 1) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    /// - Returns: -1 for a null value; nil if the line is not complete yet.
    private mutating func length(
        in bytes: Span<UInt8>, atMost limit: Int
    ) throws(RESPError) -> Int? {
        guard let number = try number(in: bytes) else { return nil }
        guard number >= -1 else { throw .malformed }
        guard number <= Int64(limit) else { throw .tooLong }
        return Int(number)
    }

    /// A decimal number, perhaps with a minus sign.
    private mutating func number(in bytes: Span<UInt8>) throws(RESPError) -> Int64? {
        guard let line = try line(in: bytes, atMost: Self.longestNumber) else { return nil }
        let isNegative = !line.isEmpty && bytes[line.lowerBound] == UInt8(ascii: "-")
        let digits = isNegative ? line.lowerBound + 1..<line.upperBound : line
        guard !digits.isEmpty else { throw .malformed }
        var number: Int64 = 0
        for index in digits {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { throw .malformed }
            let (shifted, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative
                ? shifted.subtractingReportingOverflow(Int64(digit))
                : shifted.addingReportingOverflow(Int64(digit))
            guard !overflows, !overflowsToo else { throw .malformed }
            number = sum
        }
        return number
    }

    /// The bytes before the next line end; reading continues after it.
    private mutating func line(
        in bytes: Span<UInt8>, atMost limit: Int = longestLine
    ) throws(RESPError) -> Range<Int>? {
        let start = position
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\r") {
            guard bytes[end] != UInt8(ascii: "\n") else { throw .malformed }
            guard end - start < limit, end < Self.longestValue else { throw .tooLong }
            end += 1
        }
        guard end + 1 < bytes.count else { return nil }
        guard bytes[end + 1] == UInt8(ascii: "\n") else { throw .malformed }
        position = end + 2
        return start..<end
    }

    private static func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(range.count)
        for index in range { copy.append(bytes[index]) }
        return copy
    }
}
