// SPDX-License-Identifier: Apache-2.0

/// The streams that a client has begun and not ended, by its own frames alone (RFC 9113 §5.1).
///
/// nghttp2 ignores what comes on a stream that it has forgotten, without end and without a word.
struct PeerStreams {
    /// A stream that the client has not ended.
    private enum State {
        case open
        /// We have ended it, which the client may not know yet.
        case abandoned
    }

    private var streams: RecentStreams<State>
    /// How many streams may be open here, those that nghttp2 is about to refuse included.
    private var most: Int
    /// The largest stream that was begun.
    private var last: Int32 = 0
    /// Streams below the last one that were never begun, and never can be; the newest of them.
    private var skipped: [ClosedRange<Int32>] = []

    /// - Parameter limit: how many streams may be open at once.
    init(limit: Int) {
        streams = RecentStreams(atMost: Self.capacity(for: limit), keeping: { $0 == .open })
        most = Self.most(for: limit)
    }

    private static func capacity(for limit: Int) -> Int { limit + 200 }

    /// One read may bring thousands, before the first of them is refused.
    private static func most(for limit: Int) -> Int { limit + FloodGuard.refusalBurst }

    /// Lets another number of streams be open at once; those that are open beyond fewer go on.
    mutating func use(limit: Int) {
        streams.capacity = Self.capacity(for: limit)
        most = max(most, Self.most(for: limit))
    }

    enum Verdict: Equatable {
        case expected
        /// The frame belongs to a stream that we have ended; the client could not know.
        case late
        /// The client has used up the stream, or has never begun it.
        case breach(HTTP2ErrorCode)
        /// So many streams are open that more of them would be refused than any client may have refused.
        case flood
    }

    /// Judges a HEADERS or DATA frame.
    ///
    /// - Parameter lastServed: the last stream that our GOAWAY says we serve; nothing is kept of those behind it, which
    ///   nobody ends.
    mutating func judge(
        _ header: FrameScanner.Header, beginsStream: Bool, upTo lastServed: Int32 = .max
    ) -> Verdict {
        let id = header.stream
        let endsStream = header.flags & 0x1 != 0
        if beginsStream, id > last {
            begin(id)
            if id > lastServed { return .late }
            if endsStream { return .expected }
            guard streams.keptCount < most else { return .flood }
            streams[id] = .open
            return .expected
        }
        // nghttp2 knows what to say of frames on stream 0 and of streams to come.
        guard id > 0, id <= last else { return .expected }
        guard let state = streams[id] else {
            if id > lastServed { return .late }
            if skipped.contains(where: { $0.contains(id) }) || id % 2 == 0 { return .breach(.protocolError) }
            // Of those that were forgotten it is not known if the client has ended them.
            return id <= streams.lastForgotten ? .late : .breach(.streamClosed)
        }
        if endsStream { streams[id] = nil }
        return state == .open ? .expected : .late
    }

    private mutating func begin(_ id: Int32) {
        if id > last + 2 {
            if skipped.count == 16 { skipped.removeFirst() }
            skipped.append((last + 1)...(id - 1))
        }
        last = id
    }

    /// The client resets the stream.
    mutating func reset(_ id: Int32) { streams[id] = nil }

    /// We have ended the stream.
    mutating func abandon(_ id: Int32) { if streams[id] != nil { streams[id] = .abandoned } }
}
