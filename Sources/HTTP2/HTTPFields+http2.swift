// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// Appends a field whose name and value are known to be what a field may hold, and have no white space around them.
    ///
    /// - Parameter number: that of the name among the known ones.
    @inline(__always)
    mutating func append(
        checkedName name: Span<UInt8>, value: Span<UInt8>, number: UInt8, isNeverIndexed: Bool
    ) {
        let start = block.count
        guard name.count <= Int(UInt16.max), start + name.count + value.count + 4 <= Self.maximumBlock else {
            return
        }
        block.append(count: name.count + value.count + 4) { line in
            name.withUnsafeBufferPointer { _ = line.update(fromContentsOf: $0) }
            line[name.count] = Byte.colon
            line[name.count + 1] = Byte.space
            let rest = UnsafeMutableBufferPointer(rebasing: line[(name.count + 2)...])
            value.withUnsafeBufferPointer { _ = rest.update(fromContentsOf: $0) }
            rest[value.count] = Byte.carriageReturn
            rest[value.count + 1] = Byte.lineFeed
        }
        let entry = Entry(
            nameStart: UInt32(start), valueStart: UInt32(start + name.count + 2),
            valueLength: UInt32(value.count), nameLength: UInt16(name.count), number: number,
            traits: isNeverIndexed ? 3 : 1)
        entries.append(entry)
        // None is Connection, which nghttp2 refuses (RFC 9113 §8.2.2).
        present |= entry.bit
    }

    /// Where the value of the first `Host` is in the block; nil without one.
    var rangeOfHost: Range<Int>? {
        has(.host) ? firstRange(of: .host) : nil
    }

    /// The length that the fields declare, which nghttp2 has judged; nil without one.
    var checkedContentLength: UInt64? {
        guard case .once(let digits) = occurrence(of: .contentLength) else { return nil }
        var length: UInt64 = 0
        for index in digits {
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(block.bytes[index] &- Byte.zero))
            guard !overflow, !carry else { return nil }
            length = sum
        }
        return length
    }

    /// The fields that say something of an HTTP/1.1 connection, or that a pseudo-field says (RFC 9113 §8.2.2).
    private static var unsent: UInt64 {
        KnownFieldName.connection.bit | KnownFieldName.keepAlive.bit | KnownFieldName.proxyConnection.bit
            | KnownFieldName.transferEncoding.bit | KnownFieldName.upgrade.bit
            | KnownFieldName.http2Settings.bit
            | KnownFieldName.te.bit | KnownFieldName.host.bit
    }

    /// Returns true if HTTP/2 messages may have a field of this name (RFC 9113 §8.2.2).
    @inline(__always)
    static func isSent(_ entry: Entry) -> Bool { unsent & entry.bit == 0 }
}
