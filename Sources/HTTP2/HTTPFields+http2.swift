// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// Appends a field whose name and value are known to be what a field may hold, and have no white space around them.
    mutating func append(
        checkedName name: Span<UInt8>, value: Span<UInt8>, known: KnownFieldName, isNeverIndexed: Bool = false
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
        entries.append(
            Entry(
                nameStart: UInt32(start), valueStart: UInt32(start + name.count + 2),
                valueLength: UInt32(value.count), nameLength: UInt16(name.count), known: known,
                isCanonical: true, isNeverIndexed: isNeverIndexed))
        noteAdded(known)
    }

    /// Where the value of the first `Host` is in the block; nil without one.
    var rangeOfHost: Range<Int>? {
        guard has(.host) else { return nil }
        for index in entries.indices where entries[index].known == .host { return entries[index].valueRange }
        return nil
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
    static func isSent(_ entry: Entry) -> Bool { entry.known == .other || unsent & entry.known.bit == 0 }
}
