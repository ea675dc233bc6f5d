// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Finds where frames begin in what arrives, so that each is counted whatever it is, and that nghttp2 gets no part of a
/// frame's header: it counts a CONTINUATION anew with each part (1.52 of Debian 12).
struct FrameScanner {
    static let headerLength = 9
    /// The most bytes behind a frame's header: our SETTINGS leave SETTINGS_MAX_FRAME_SIZE as it begins (RFC 9113 §6.5.2).
    static let largestFrame = 1 << 14

    /// The header of a frame (RFC 9113 §4.1).
    struct Header {
        let length: Int
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        /// True if it comes inside a header block, where nothing but CONTINUATION may (RFC 9113 §6.10).
        let interruptsHead: Bool
        /// True if it comes behind a CONTINUATION that could have had much more of the head.
        let followsCrumb: Bool
        /// For a CONTINUATION: how many its head has had so far, this one included.
        let continuations: Int

        /// True if a HEADERS or DATA frame is the last of its side of the stream.
        var endsStream: Bool { flags & 0x1 != 0 }
    }

    /// The part of a header that has arrived.
    private(set) var part: [UInt8] = []
    /// How many bytes there are before the next header.
    private(set) var rest: Int
    /// True if a header block has begun and its frame with END_HEADERS has not arrived.
    private var awaitsContinuation = false
    private var isInHeadFrame = false
    /// True if the last frame was a CONTINUATION of less than ``crumb``, without END_HEADERS.
    private var isBehindCrumb = false
    private static let crumb = 1024
    private var continuationCount = 0

    /// - Parameter preface: how many bytes come before the first frame.
    init(preface: Int) { rest = preface }

    /// True if a header block has begun and is incomplete.
    var isInsideHead: Bool { awaitsContinuation || (isInHeadFrame && rest > 0) }

    /// Goes past up to `count` bytes that are no header.
    ///
    /// - Returns: how many there are.
    mutating func skip(atMost count: Int) -> Int {
        let skipped = min(rest, count)
        rest -= skipped
        return skipped
    }

    /// Puts more of a header behind the part that there is.
    ///
    /// - Returns: the header's bytes, once there are all.
    mutating func complete(with bytes: Span<UInt8>) -> [UInt8]? {
        part.append(bytes)
        guard part.count == Self.headerLength else { return nil }
        defer { part = [] }
        return part
    }

    /// Reads a whole header.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>) -> Header {
        let word = bytes.word(at: 0).byteSwapped
        let type = UInt8(truncatingIfNeeded: word &>> 32)
        continuationCount = type == 9 ? continuationCount &+ 1 : 0
        let header = Header(
            length: Int(word &>> 40), type: type, flags: UInt8(truncatingIfNeeded: word &>> 24),
            stream: Int32(truncatingIfNeeded: (word & 0x7FFFFF) &<< 8 | UInt64(bytes[8])),
            interruptsHead: awaitsContinuation && type != 9, followsCrumb: isBehindCrumb,
            continuations: continuationCount)
        rest = header.length
        let endsHeaders: UInt8 = 0x4
        isInHeadFrame = header.type == 1 || header.type == 9
        if isInHeadFrame {
            awaitsContinuation = header.flags & endsHeaders == 0
            isBehindCrumb = awaitsContinuation && header.type == 9 && header.length < Self.crumb
        }
        return header
    }
}
