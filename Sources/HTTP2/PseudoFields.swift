// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

/// The pseudo-fields of a head that goes out, in one block of memory, before its other fields (RFC 9113 §8.3).
struct PseudoFields {
    private var bytes: [UInt8] = []
    private var entries: [(name: StaticString, value: Range<Int>)] = []

    mutating func append(_ name: StaticString, _ value: [UInt8]) {
        let start = bytes.count
        bytes += value
        entries.append((name, start..<bytes.count))
    }

    mutating func append(_ name: StaticString, status: Int) {
        let code = min(max(status, 100), 999)
        append(
            name, [code / 100, code / 10 % 10, code % 10].map { Byte.zero + UInt8(truncatingIfNeeded: $0) })
    }

    /// Lends all of a head in nghttp2's form, which copies it and makes names lower-case.
    func withPairs<Result>(
        and fields: HTTPFields, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { values in
            fields.block.bytes.withUnsafeBufferPointer { block in
                withUnsafeTemporaryAllocation(
                    of: nghttp2_nv.self, capacity: entries.count + fields.entries.count
                ) { pairs in
                    var count = 0
                    for entry in entries {
                        pairs.initializeElement(
                            at: count,
                            to: nghttp2_nv(
                                name: UnsafeMutablePointer(mutating: entry.name.utf8Start),
                                value: pointer(values, entry.value.lowerBound),
                                namelen: entry.name.utf8CodeUnitCount, valuelen: entry.value.count,
                                flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                        count += 1
                    }
                    for entry in fields.entries where HTTPFields.isSent(entry) {
                        pairs.initializeElement(
                            at: count,
                            to: nghttp2_nv(
                                name: pointer(block, entry.nameRange.lowerBound),
                                value: pointer(block, entry.valueRange.lowerBound),
                                namelen: entry.nameRange.count, valuelen: entry.valueRange.count,
                                flags: UInt8(
                                    entry.isNeverIndexed
                                        ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)))
                        count += 1
                    }
                    return body(UnsafeBufferPointer(rebasing: pairs[..<count]))
                }
            }
        }
    }

    private func pointer(
        _ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int
    ) -> UnsafeMutablePointer<UInt8>? {
        bytes.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
    }
}
