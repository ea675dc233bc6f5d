// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

/// A head that goes out in nghttp2's form, pseudo-fields first (RFC 9113 §8.3), for as long as its memory is lent.
///
/// nghttp2 copies what it points to, and makes names lower-case.
struct HeadPairs {
    /// The most pseudo-fields, and fields of our own, before the others.
    private static let pseudoFields = 6

    private let pairs: UnsafeMutableBufferPointer<nghttp2_nv>
    private let block: UnsafeBufferPointer<UInt8>
    private(set) var count = 0

    var first: UnsafePointer<nghttp2_nv>? { UnsafePointer(pairs.baseAddress) }

    /// Lends `body` a head without fields that has room for all of `fields`, and their memory.
    static func lend<Result>(for fields: HTTPFields, _ body: (inout HeadPairs) -> Result) -> Result {
        fields.block.bytes.withUnsafeBufferPointer { block in
            withUnsafeTemporaryAllocation(
                of: nghttp2_nv.self, capacity: pseudoFields + fields.entries.count
            ) { memory in
                var pairs = HeadPairs(pairs: memory, block: block)
                return body(&pairs)
            }
        }
    }

    private init(pairs: UnsafeMutableBufferPointer<nghttp2_nv>, block: UnsafeBufferPointer<UInt8>) {
        self.pairs = pairs
        self.block = block
    }

    /// - Parameter isInNoTable: true for what no table on its way may hold (RFC 7541 §7.1.3).
    mutating func append(
        _ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isInNoTable: Bool = false
    ) {
        append(
            UnsafeMutablePointer(mutating: name.utf8Start), name.utf8CodeUnitCount,
            UnsafeMutablePointer(mutating: value.baseAddress), value.count,
            isInNoTable ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)
    }

    mutating func append(_ name: StaticString, _ value: StaticString) {
        append(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
    }

    /// - Parameter range: of the fields' memory.
    mutating func append(_ name: StaticString, valueAt range: Range<Int>) {
        append(name, UnsafeBufferPointer(rebasing: block[range]))
    }

    /// Appends those fields that messages of HTTP/2 may have.
    mutating func append(_ fields: HTTPFields) {
        for index in fields.entries.indices where HTTPFields.isSent(fields.entries[index]) {
            let entry = fields.entries[index]
            // Each request has another identifier: the peer's table would hold nothing else.
            let isInNoTable = entry.isNeverIndexed || entry.known == .xRequestID
            append(
                pointer(to: entry.nameRange), Int(entry.nameLength), pointer(to: entry.valueRange),
                Int(entry.valueLength), isInNoTable ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)
        }
    }

    private func pointer(to range: Range<Int>) -> UnsafeMutablePointer<UInt8>? {
        UnsafeMutablePointer(mutating: UnsafeBufferPointer(rebasing: block[range]).baseAddress)
    }

    private mutating func append(
        _ name: UnsafeMutablePointer<UInt8>?, _ nameLength: Int, _ value: UnsafeMutablePointer<UInt8>?,
        _ valueLength: Int, _ flag: nghttp2_nv_flag
    ) {
        pairs.initializeElement(
            at: count,
            to: nghttp2_nv(
                name: name, value: value, namelen: nameLength, valuelen: valueLength,
                flags: UInt8(truncatingIfNeeded: flag.rawValue)))
        count += 1
    }
}

/// The three digits of a status code.
struct StatusDigits {
    private let digits: (UInt8, UInt8, UInt8)

    init(_ status: Int) {
        let code = min(max(status, 100), 999)
        digits = (Self.digit(code / 100), Self.digit(code / 10 % 10), Self.digit(code % 10))
    }

    private static func digit(_ value: Int) -> UInt8 { Byte.zero &+ UInt8(truncatingIfNeeded: value) }

    func lend<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeBytes(of: digits) { $0.withMemoryRebound(to: UInt8.self, body) }
    }
}
