// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension HTTPFields {
    /// Takes copies of lines and of the block that they point into, in place of what is there.
    mutating func replaceAll(with lines: Span<Entry>, of bytes: Span<UInt8>, present: UInt64) {
        removeAll(keepingCapacity: true)
        block.append(bytes)
        if entries.memory.count < lines.count {
            entries.memory.append(
                contentsOf: repeatElement(.none, count: lines.count - entries.memory.count))
        }
        var memory = entries.memory.mutableSpan
        for index in lines.indices { memory[index] = lines[index] }
        entries.use(lines.count)
        self.present = present
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
