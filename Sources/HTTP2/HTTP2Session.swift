// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

// Functions, because a member of a class that names a type of C cannot be read by modules that do not know the library.

private func setting(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
    nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
}

/// The part of the limits that SETTINGS tell.
private func settingsOf(_ limits: HTTP2Limits, for role: HTTP2Session.Role) -> [nghttp2_settings_entry] {
    let heads = setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.head.headerBytes)
    guard role == .server else { return [heads] }
    return [heads, setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams)]
}

/// One HTTP/2 connection without its socket: bytes go in and come out, streams are in between (RFC 9113).
///
/// Owns an `nghttp2_session`. What arrives is put into ``HTTP2Stream``s; those that have changed are told by
/// ``takeChanged()``, never by a call from inside of nghttp2. Windows are opened by ``consume(_:of:)`` alone: this is the
/// back-pressure. Confined to one thread.
package final class HTTP2Session {
    package enum Role: Sendable {
        case client
        case server

        var peer: Role { self == .server ? .client : .server }
    }

    package let role: Role
    private(set) var limits: HTTP2Limits
    /// The size of a header list of the peer's that ends the connection.
    private(set) var bombBytes: Int
    /// The most CONTINUATION frames of a head of the peer's.
    private(set) var continuationLimit: Int
    /// The bytes to send to the peer, as a copy; ``withOutput(_:)`` lends them.
    package var output: [UInt8] { Array(framed.value.bytes[..<framed.value.count]) }
    /// Takes ``output``, as a sender does that has sent all of it.
    package func takeOutput() -> [UInt8] {
        defer { framed.value.removeAll(keepingCapacity: true) }
        return output
    }
    package var hasOutput: Bool { !framed.value.isEmpty }
    /// Why the connection has ended on our side, for a fault of the peer; a GOAWAY with it stands in ``output``.
    package var failure: HTTP2ErrorCode? { failureCode }
    /// The fault of the peer for which our side has ended the connection, whoever has found it; nil if it has not.
    package var peerFault: HTTP2ErrorCode? { foundFault ?? (failureCode == .noError ? nil : failureCode) }
    /// The kind of frames of which the peer has sent too many, in words; nil if the connection has not ended for that.
    package var flood: String? {
        guard failureCode == .enhanceYourCalm else { return nil }
        if floods.exceeded == .provokedReset, role == .client { return "malformed answers" }
        if let kind = floods.exceeded { return kind.rawValue }
        if hasBomb { return "large heads" }
        if isInsideHead { return "a head without end" }
        return gotPeerSettings ? "frames that need an answer" : "no SETTINGS"
    }
    /// The last stream that the peer's GOAWAY says it has taken, and its code; nil before one.
    package var goaway: (lastStream: Int32, code: HTTP2ErrorCode)? { receivedGoaway }
    /// True once the peer's SETTINGS have arrived.
    package var hasPeerSettings: Bool { gotPeerSettings }
    /// How many PINGs of ours the peer has answered.
    package var pongs: Int { pongCount }
    /// How many HEADERS and DATA frames have come.
    package var messageFrames: Int { messageFrameCount }
    /// How much content of all streams has been framed, in bytes.
    package var sentCount: UInt64 { framedCount }
    /// True if a header block has begun and is incomplete.
    package var isInsideHead: Bool { scanner.isInsideHead && !inputHasEnded }
    /// True if the incomplete header block is this stream's.
    package func isInsideHead(of stream: HTTP2Stream) -> Bool { isInsideHead && headStream == stream.id }

    // As in HTTP2Stream: what other modules see is computed.
    let framed = Exclusive(ByteBlock())
    private var failureCode: HTTP2ErrorCode?
    var receivedGoaway: (lastStream: Int32, code: HTTP2ErrorCode)?
    /// The fault of the peer that nghttp2 has found, and told in a GOAWAY of its own.
    var foundFault: HTTP2ErrorCode?
    var gotPeerSettings = false
    var pongCount = 0
    var pingCount = 0
    var hasPingedLast = false
    var messageFrameCount = 0
    var framedCount: UInt64 = 0
    /// How much content of all streams waits to be framed.
    var waitingCount = 0
    var untaken = 0
    /// The streams whose end is DATA without content, until it is framed.
    var shutEnds: [HTTP2Stream] = []
    private var library: OpaquePointer?
    /// The `nghttp2_session *`; nil once the connection is gone.
    var handle: OpaquePointer? { library }
    let streams = StreamTable()
    private let changed = Exclusive<[HTTP2Stream]>([])
    /// Memory for ``changed``.
    private var spare: [HTTP2Stream] = []
    package let pool: StreamPool
    let collector = Exclusive(FieldCollector())
    /// The stream whose head has begun last, which is what ``collector`` knows of.
    var headStream: Int32 = 0
    let lines = GatheredLines()
    /// Outlives ``handle``.
    let outgoing: OutgoingHeads
    var scanner: FrameScanner
    var settingsScanner = SettingsScanner()
    var floods = FloodGuard()
    /// When time was counted in last for the budgets.
    var refilledAt: ContinuousClock.Instant?
    /// How many seconds had passed then since the first bytes came: a number, because the library's instants have no size that
    /// the compiler knows, and each stream keeps one.
    var age = 0.0
    /// A server's side: what the client has begun.
    let peerStreams: Exclusive<PeerStreams>
    var abandoned = AbandonedStreams()
    /// True while the head that comes is of a stream that is over here.
    var isHeadLate = false
    /// True once the peer sends nothing more.
    private var inputHasEnded = false
    /// True once a head was larger than any may be.
    var hasBomb = false
    /// True if frames that earn budgets may not have been read by nghttp2.
    var hasUnreadEarnings = false
    /// A server's side: true once the client has said that it ends the connection (GOAWAY), which it may still use.
    package internal(set) var peerIsLeaving = false
    /// True inside a frame that nghttp2 does not get.
    var isInsideHidden = false
    /// True once a side has said which stream of the other's is the last.
    var isLeaving = false
    /// The last stream of the peer's that our GOAWAY says we serve.
    var lastServed = Int32.max
    /// The largest window of a stream, and the one that streams begin with, before the SETTINGS that are arriving.
    var windowsBefore = (largest: 0, initial: 0)
    /// The fault, found in a callback, that ends the connection.
    var breach: HTTP2ErrorCode?
    /// How large ``output`` may become in the call that is under way.
    var outputLimit = 0
    /// The streams that nghttp2 closes by a reset which nobody is sent.
    var unsentResets: [Int32] = []

    /// - Parameter pool: of streams that a client begins; of no other thread.
    /// - Returns: nil if there is no memory.
    package init?(_ role: Role, limits: HTTP2Limits, pool: StreamPool = StreamPool(atMost: 32)) {
        self.role = role
        self.limits = limits
        bombBytes = limits.bombBytes(of: role.peer)
        continuationLimit = limits.continuations(of: role.peer)
        self.pool = pool
        outgoing = OutgoingHeads(in: pool.heads)
        peerStreams = Exclusive(PeerStreams(limit: limits.streams))
        scanner = FrameScanner(preface: role == .server ? 24 : 0)
        var options: OpaquePointer?
        var callbacks: OpaquePointer?
        guard nghttp2_option_new(&options) == 0 else { return nil }
        defer { nghttp2_option_del(options) }
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_no_closed_streams(options, 1)
        // Ours are tighter; these are a second net.
        nghttp2_option_set_stream_reset_rate_limit(options, 5000, UInt64(20 * max(limits.streams, 25)))
        nghttp2_option_set_max_outbound_ack(options, 500)
        nghttp2_option_set_max_settings(options, 32)
        nghttp2_option_set_max_continuations(options, 1 << 16)
        nghttp2_option_set_max_reserved_remote_streams(options, 0)
        nghttp2_option_set_peer_max_concurrent_streams(options, 100)
        // A head that may come in may go out, with fields of our own; nghttp2 estimates it as larger than it is.
        nghttp2_option_set_max_send_header_block_length(options, max(1 << 20, 2 * limits.head.headerBytes))
        HTTP2Callbacks.set(in: callbacks)
        let context = Unmanaged.passUnretained(self).toOpaque()  // freed in deinit: no callback outlives us
        var made: OpaquePointer?
        let result = bearerd_session_new(
            role == .server ? 1 : 0, &made, callbacks, context, options, pool.memory)
        library = made
        guard result == 0, introduce() else { return nil }
        // They come first, in front of a GOAWAY too (RFC 9113 §3.4).
        produce(upTo: 1024)
    }

    deinit { nghttp2_session_del(handle) }

    /// Puts our SETTINGS first, and opens the connection's window.
    private func introduce() -> Bool {
        var settings = [setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2Limits.streamWindow)]
        switch role {
        // Without a word of priorities nghttp2 serves requests in turn; with that of RFC 9218 the first one that has content
        // would have all of the connection's window.
        case .client: settings.append(setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
        case .server:
            settings.append(setting(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1))
            settings.append(setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1))
        }
        settings += settingsOf(limits, for: role)
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        return nghttp2_submit_settings(handle, flags, settings, settings.count) == 0
            && nghttp2_session_set_local_window_size(
                handle, flags, 0, Int32(HTTP2Limits.connectionWindow)) == 0
    }

    /// Holds the peer to other limits from now on, and tells it so; streams beyond fewer than before go on.
    package func use(_ new: HTTP2Limits) {
        guard failureCode == nil, new != limits else { return }
        limits = new
        bombBytes = new.bombBytes(of: role.peer)
        // The peer may not have heard of a smaller one.
        continuationLimit = max(continuationLimit, new.continuations(of: role.peer))
        peerStreams.value.use(limit: new.streams)
        let settings = settingsOf(new, for: role)
        nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    // MARK: What comes in

    package var hasChanged: Bool { !changed.value.isEmpty }

    /// The streams that have changed since the last call, in the order in which they first did.
    ///
    /// They are to be given back with ``giveBack(_:)``.
    package func takeChanged() -> [HTTP2Stream] {
        var taken: [HTTP2Stream] = []
        swap(&taken, &spare)
        swap(&taken, &changed.value)
        for stream in taken { stream.isTouched = false }
        return taken
    }

    /// Takes back the streams of ``takeChanged()``; those that are over and that nobody else knows are used again.
    package func giveBack(_ taken: inout [HTTP2Stream]) {
        pool.give(&taken)
        if taken.capacity <= 256 { swap(&taken, &spare) }
    }

    func touch(_ stream: HTTP2Stream) {
        guard !stream.isTouched else { return }
        stream.isTouched = true
        changed.value.append(stream)
    }

    /// Has every open stream told, whatever has changed.
    package func touchAll() { for stream in streams.all { touch(stream) } }

    /// Says that `count` bytes of what has arrived on a stream are needed no more, so that the peer may send as many.
    package func consume(_ count: Int, of stream: HTTP2Stream) {
        guard count > 0 else { return }
        stream.consumeReceived(count)
        guard failureCode == nil, !stream.isClosed, !stream.hasEnd else { return }
        nghttp2_session_consume_stream(handle, stream.id, count)
    }

    /// How many streams are answered but for the sending of what the peer has not taken yet.
    package var untakenCount: Int { untaken }

    /// How many streams are open.
    package var streamCount: Int { streams.count }

    /// Has a request answered that does not end, though it declares no content.
    package func expire(_ stream: HTTP2Stream) {
        stream.hasExpired = true
        stream.hasHead = true
        touch(stream)
    }

    /// Ends the connection for a head, or the peer's first SETTINGS, that did not come in time.
    package func expire() {
        if isInsideHead, let stream = brokenStream() { stream.hasExpired = true }
        fail(.enhanceYourCalm)
    }

    // MARK: The end

    /// Says that the peer sends nothing more: a head that is incomplete is none, and nobody waits for the rest.
    package func endInput() {
        let broken = isInsideHead ? brokenStream() : nil
        inputHasEnded = true
        guard let stream = broken else { return }
        _ = streams.remove(stream.id)
        close(stream, .cancel)
    }

    /// True once nothing more is sent or received.
    package var isOver: Bool {
        failureCode != nil
            || (nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    /// True if there is something to send that is not in ``output`` yet.
    package var wantsToSend: Bool { failureCode == nil && nghttp2_session_want_write(handle) != 0 }

    /// Ends the connection with a GOAWAY, at once and for all streams.
    package func fail(_ code: HTTP2ErrorCode) {
        guard failureCode == nil else { return }
        failureCode = code
        let last = UInt32(bitPattern: nghttp2_session_get_last_proc_stream_id(handle))
        // By hand: a session that has failed takes nothing more.
        let header: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0]
        framed.value.append(header.span)
        for number in [last, code.rawValue] {
            for shift: UInt32 in [24, 16, 8, 0] {
                framed.value.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        guard role == .client else { return abandonStreams(code) }
        // The answer in whose head the fault lies is malformed; what else was asked of the upstream is lost with the connection.
        if isInsideHead, let stream = streams[headStream], !stream.hasHead { stream.resetCode = code }
        abandonStreams(.cancel)
    }

    /// Says that the connection is gone: nothing more comes in or goes out, and no memory is kept for it.
    package func abandon() {
        if failureCode == nil { failureCode = .noError }
        abandonStreams(.cancel)
        nghttp2_session_del(handle)
        library = nil
        outgoing.drop()
        lines.drop()
        shutEnds = []
        framed.value = ByteBlock()
    }

    private func abandonStreams(_ code: HTTP2ErrorCode) {
        brokenStream()
        for stream in streams.all {
            if stream.resetCode == nil, isUnframed(stream) { stream.isUnprocessed = true }
            close(stream, code)
        }
        streams.removeAll()
    }

    func close(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode?) {
        stream.isClosed = true
        if stream.isAnswered { untaken -= 1 }
        if stream.resetCode == nil { stream.resetCode = code }
        if stream.resetCode != nil {
            dropUnsent(of: stream)
            if !stream.hasEnd { stream.dropReceived() }
        }
        touch(stream)
    }

    // MARK: The peer

    /// How many streams the peer lets us begin at once.
    package var peerStreamLimit: Int {
        guard failureCode == nil else { return 0 }
        return Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// The largest head that the peer says it takes, as RFC 9113 §6.5.2 counts it.
    package var peerHeadLimit: Int {
        guard failureCode == nil else { return 0 }
        return Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE))
    }

    /// True if the peer accepts extended CONNECT (RFC 8441 §3).
    package var peerTakesConnectProtocol: Bool {
        failureCode == nil
            && nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    /// How much content the peer would take now, of all streams together.
    package var connectionWindow: Int {
        failureCode == nil ? Int(nghttp2_session_get_remote_window_size(handle)) : 0
    }

    /// How much content of the stream the peer would take now.
    package func window(of stream: HTTP2Stream) -> Int { min(streamWindow(of: stream), connectionWindow) }

    /// How much content of the stream the peer would take if the connection's window allowed it.
    func streamWindow(of stream: HTTP2Stream) -> Int {
        guard failure == nil, !stream.isClosed else { return 0 }
        let window = nghttp2_session_get_stream_remote_window_size(handle, stream.id)
        guard window < 0, !stream.hasBegunSending || role == .client else { return Int(window) }
        return initialWindow
    }

    /// How much content the peer takes of a stream at first.
    var initialWindow: Int {
        Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
    }

    /// True of a request that waits to be framed, and is no stream of nghttp2's yet.
    func isUnframed(_ stream: HTTP2Stream) -> Bool {
        role == .client && nghttp2_session_get_stream_remote_window_size(handle, stream.id) < 0
    }
}
