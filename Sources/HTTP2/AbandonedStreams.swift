// SPDX-License-Identifier: Apache-2.0

/// Streams that we have ended before the peer has, and what may still come of each: what its window allowed, the end, or a
/// reset that has met ours.
struct AbandonedStreams {
    /// How many bytes of content are forgiven; trailers cost some of them.
    private var allowances = RecentStreams<Int>(atMost: 1024)

    private static let allowance = 2 * HTTP2Limits.streamWindow
    /// A frame costs no less, so that empty ones end too; no message of gRPC is smaller.
    private static let leastCost = 5

    /// We end the stream.
    mutating func insert(_ id: Int32) { allowances[id] = Self.allowance }

    /// - Returns: true if a HEADERS or DATA frame is one that the peer may have sent before it knew.
    mutating func forgives(_ header: FrameScanner.Header) -> Bool {
        guard let allowance = allowances[header.stream] else { return false }
        let rest = allowance - max(header.length, Self.leastCost)
        let endsStream = header.flags & 0x1 != 0
        allowances[header.stream] = endsStream || rest < 0 ? nil : rest
        return rest >= 0
    }

    /// The peer resets the stream.
    ///
    /// - Returns: true if it may have done so before it knew that we had.
    mutating func forgivesReset(of id: Int32) -> Bool {
        defer { allowances[id] = nil }
        return allowances[id] != nil
    }
}
