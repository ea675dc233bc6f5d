// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// The received and the unsent data of one stream of an ``HTTP2Session``.
///
/// It outlives the stream: what has arrived can still be read once the stream is closed. Confined to the thread of its
/// session. What other modules see is computed: of what is stored inside of this one the compiler proves that access is
/// exclusive, and checks it for all others at run time.
package final class HTTP2Stream {
    /// All that is either true or false of a stream.
    struct Marks: OptionSet {
        let rawValue: UInt32

        static let head = Marks(rawValue: 1)
        static let expired = Marks(rawValue: 1 << 1)
        static let end = Marks(rawValue: 1 << 2)
        static let begunSending = Marks(rawValue: 1 << 3)
        static let sentEnd = Marks(rawValue: 1 << 4)
        static let resetByPeer = Marks(rawValue: 1 << 5)
        static let unprocessed = Marks(rawValue: 1 << 6)
        static let closed = Marks(rawValue: 1 << 7)
        static let taken = Marks(rawValue: 1 << 8)
        static let touched = Marks(rawValue: 1 << 9)
        static let announced = Marks(rawValue: 1 << 10)
        static let endAfterSending = Marks(rawValue: 1 << 11)
        static let deferred = Marks(rawValue: 1 << 12)
        static let answered = Marks(rawValue: 1 << 13)
        static let ending = Marks(rawValue: 1 << 14)
        static let givenEnd = Marks(rawValue: 1 << 15)
        static let faulty = Marks(rawValue: 1 << 16)
        static let reset = Marks(rawValue: 1 << 17)
        static let awaited = Marks(rawValue: 1 << 18)
        static let trailersToSend = Marks(rawValue: 1 << 19)
        static let endedApart = Marks(rawValue: 1 << 20)
    }

    private var marks: Marks = []
    private var number: Int32
    private let heading = Exclusive(HTTPRequest())
    private let heads = Exclusive(ResponseQueue())
    private var connectName: String?
    private var brokenMethod: HTTPMethod?
    private var messageFault: MessageFault?
    private var headLength: UInt64?
    private let arrived = Exclusive(StreamBytes())
    private var arrivedCount: UInt64 = 0
    private let trailing = Exclusive(HTTPFields())
    private let unsent = Exclusive(StreamBytes())
    private let leaving = Exclusive(HTTPFields())
    private var framedCount: UInt64 = 0
    private var waitingInterims = 0
    private var endCode: HTTP2ErrorCode?
    private var listener: (() -> Void)?
    /// When a client began the stream, as ``HTTP2Session/age``; nil once its reset was excused by that, and for streams of our
    /// own.
    var begunAt: Double?

    init(id: Int32) { number = id }

    /// A stream of our own, which ``HTTP2Session/request(_:on:scheme:hasContent:takesTrailers:connectProtocol:)`` begins.
    package convenience init() { self.init(id: 0) }

    /// Makes one that was forgotten as good as new.
    func renew(id: Int32) {
        dropTrailersToSend()
        marks = []
        number = id
        if connectName != nil { connectName = nil }
        if brokenMethod != nil { brokenMethod = nil }
        if messageFault != nil { messageFault = nil }
        headLength = nil
        arrivedCount = 0
        framedCount = 0
        waitingInterims = 0
        endCode = nil
        begunAt = nil
        if listener != nil { listener = nil }
    }

    /// Gives up what nobody needs of a stream that is over, and memory that its message has made large.
    func forget() {
        if listener != nil { listener = nil }
        head.wipe()
        if head.fields.block.bytes.count > Self.keptHead { head.fields = HTTPFields() }
        if head.targetBytes.capacity > Self.keptHead { head.targetBytes = [] }
        if !trailerFields.isEmpty { trailerFields.removeAll(keepingCapacity: true) }
        if trailerFields.block.bytes.count > Self.keptHead { trailerFields = HTTPFields() }
        if hasResponse { heads.value = ResponseQueue() }
        dropTrailersToSend()
        dropReceived()
        dropUnsent()
    }

    /// The largest head whose memory is kept for another stream.
    private static let keptHead = 4 * 1024

    private func mark(_ mark: Marks, _ isTrue: Bool) {
        marks = isTrue ? marks.union(mark) : marks.subtracting(mark)
    }

    /// Odd and growing (RFC 9113 §5.1.1).
    package internal(set) var id: Int32 {
        get { number }
        set { number = newValue }
    }

    // MARK: What comes in

    var head: HTTPRequest {
        @inline(__always)
        _read { yield heading.value }
        @inline(__always)
        _modify { yield &heading.value }
    }
    var trailerFields: HTTPFields {
        @inline(__always)
        _read { yield trailing.value }
        @inline(__always)
        _modify { yield &trailing.value }
    }

    /// A server's side: the head; complete once ``hasHead`` is true.
    package var request: HTTPRequest { head }

    /// Exchanges the head of the request for `other`, whose memory is used again.
    ///
    /// The head of a malformed request is empty but for its method: what was read of it is nowhere, and an earlier request's may
    /// stand there.
    package func swapRequest(with other: inout HTTPRequest) {
        if !isAnnounced {
            head = HTTPRequest()
            head.method = brokenMethod ?? HTTPMethod(rawValue: "")
        }
        swap(&head, &other)
    }

    /// Keeps the method of a request whose head will never be whole, for its line in the access log.
    func name(_ method: HTTPMethod) { brokenMethod = method }

    /// A client's side: true if there is a head that nobody has taken.
    package var hasResponse: Bool { !heads.value.isEmpty }
    var responseCount: Int { heads.value.count }

    /// True if the next head declares that no content follows, and the response has not ended: one that goes on is malformed,
    /// and its head would be all of a message that is written as HTTP/1.1.
    package var awaitsEmptyEnd: Bool {
        headLength == 0 && marks.isDisjoint(with: [.end]) && heads.value.count == 1
    }

    /// Takes the first head that nobody has taken, of which there must be one, in exchange for memory that is used again;
    /// interim ones come first.
    package func takeResponse(into other: inout HTTPResponse) { heads.value.takeFirst(into: &other) }

    func append(response collector: inout FieldCollector) { collector.giveResponse(to: &heads.value) }

    /// The protocol that an extended CONNECT asks for (RFC 8441), in place of the method's usual meaning.
    package internal(set) var connectProtocol: String? {
        get { connectName }
        set { connectName = newValue }
    }
    /// True once the head of a request, or the final head of a response, has arrived.
    package internal(set) var hasHead: Bool {
        get { marks.contains(.head) }
        set { mark(.head, newValue) }
    }
    /// True if the request did not end in time, though it declares no content.
    package internal(set) var hasExpired: Bool {
        get { marks.contains(.expired) }
        set { mark(.expired, newValue) }
    }
    /// A fault of the message that can be answered instead of resetting the stream.
    package internal(set) var fault: MessageFault? {
        get { messageFault }
        set {
            mark(.faulty, newValue != nil)
            if newValue != nil || messageFault != nil { messageFault = newValue }
        }
    }
    /// True if a request was reset here before its head was complete, for its head or for content that it did not declare.
    package var isMalformed: Bool {
        (endCode == .protocolError || endCode == .compressionError)
            && marks.isDisjoint(with: [.resetByPeer, .head, .begunSending])
    }
    /// The length that the head declares; nil without one.
    package internal(set) var declaredLength: UInt64? {
        get { headLength }
        set { headLength = newValue }
    }
    /// How much content has arrived and is not consumed.
    package var keptCount: Int { arrived.value.count }

    /// Lends the first `count` bytes of the content that has arrived and is not consumed.
    package func withReceived<Result, Failure: Error>(
        _ count: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A copy: whoever sends them may find out that the stream is over.
        let bytes = arrived.value
        return try bytes.withFirst(count, body)
    }

    func append(received bytes: Span<UInt8>) {
        arrived.value.append(bytes)
        arrivedCount += UInt64(bytes.count)
    }

    func consumeReceived(_ count: Int) { arrived.value.consume(count) }

    /// Forgets the content that has arrived; little memory is kept.
    func dropReceived() { arrived.value.removeAll() }

    /// How much content has arrived.
    package var receivedCount: UInt64 { arrivedCount }
    /// True once the peer has ended its direction; ``trailers`` are complete then.
    package internal(set) var hasEnd: Bool {
        get { marks.contains(.end) }
        set { mark(.end, newValue) }
    }
    package var trailers: HTTPFields { trailerFields }
    /// True if all of the message has come and nothing of its content is left but the first `count` bytes; a reset behind
    /// the end, by which a server says that it needs no more of the request (RFC 9113 §8.1), takes nothing of it away.
    package func isWhole(but count: Int) -> Bool {
        marks.intersection([.end, .faulty]) == .end && keptCount == count
    }

    package var hasTrailers: Bool { !trailerFields.isEmpty }

    /// The status of a call of gRPC in ``trailers``, which are not copied for that; nil without one.
    package var callStatus: Int? { trailerFields.isEmpty ? nil : trailerFields.grpcStatus }

    /// How much of the content that has arrived may be handed out.
    ///
    /// The last byte of a declared length waits for the end of the stream, so that nobody who writes the message as HTTP/1.1
    /// has sent all of one that goes on, or ends, and is malformed.
    package var readableCount: Int {
        guard marks.intersection([.end, .faulty]) != .end, let headLength, arrivedCount >= headLength else {
            return keptCount
        }
        return max(0, keptCount - 1)
    }

    /// Forgets the content that has arrived, and keeps little memory for it.
    package func letGo() { arrived.value.letGo() }

    // MARK: What goes out

    /// How much content waits for the connection and the peer's window.
    package var unsentCount: Int { unsent.value.count }

    func append(unsent bytes: Span<UInt8>) { unsent.value.append(bytes) }

    /// Moves the first `count` bytes of what waits into `output`.
    func takeUnsent(_ count: Int, into output: inout ByteBlock) {
        unsent.value.withFirst(count) { output.append($0) }
        unsent.value.consume(count)
        framedCount += UInt64(count)
    }

    /// Forgets the content that is to be sent; little memory is kept.
    func dropUnsent() { unsent.value.removeAll() }

    /// True if the message ends after the content that waits.
    var endsAfterSending: Bool {
        get { marks.contains(.endAfterSending) }
        set { mark(.endAfterSending, newValue) }
    }
    /// True once nghttp2 has HEADERS that end the message.
    var hasGivenEnd: Bool {
        get { marks.contains(.givenEnd) }
        set { mark(.givenEnd, newValue) }
    }
    /// True if nghttp2 has asked for content in vain, and asks again only when it is told to.
    var isDeferred: Bool {
        get { marks.contains(.deferred) }
        set { mark(.deferred, newValue) }
    }
    /// True if trailers follow the content that is to be sent.
    package var hasTrailersToSend: Bool { marks.contains(.trailersToSend) }
    /// The trailers that follow the content; empty without.
    var trailersToSend: HTTPFields {
        @inline(__always)
        _read { yield leaving.value }
    }

    func append(trailersToSend trailers: HTTPFields) {
        leaving.value = trailers
        mark(.trailersToSend, true)
    }

    func dropTrailersToSend() {
        guard hasTrailersToSend else { return }
        leaving.value = HTTPFields()
        mark(.trailersToSend, false)
    }
    /// True once the head of the message, or the final head, was given to the session.
    package internal(set) var hasBegunSending: Bool {
        get { marks.contains(.begunSending) }
        set { mark(.begunSending, newValue) }
    }
    /// True once the whole message, with its end, has been framed.
    package internal(set) var hasSentEnd: Bool {
        get { marks.contains(.sentEnd) }
        set { mark(.sentEnd, newValue) }
    }
    /// True once the end has gone out without nghttp2, for which our direction goes on.
    var hasEndedApart: Bool {
        get { marks.contains(.endedApart) }
        set { mark(.endedApart, newValue) }
    }
    /// How many interim heads wait to be framed.
    package internal(set) var interimCount: Int {
        get { waitingInterims }
        set { waitingInterims = newValue }
    }
    /// How many bytes of content have been framed.
    package var sentCount: UInt64 { framedCount }
    /// True if whatever the peer still sends is of no interest: the stream is reset once our direction has ended.
    var isAnswered: Bool {
        get { marks.contains(.answered) }
        set { mark(.answered, newValue) }
    }

    // MARK: Its life

    /// Why the stream has ended early, on either side; nil while it goes on, and where both sides have ended in good order.
    package internal(set) var resetCode: HTTP2ErrorCode? {
        get { endCode }
        set {
            mark(.reset, newValue != nil)
            endCode = newValue
        }
    }
    /// True if the peer reset the stream.
    package internal(set) var isResetByPeer: Bool {
        get { marks.contains(.resetByPeer) }
        set { mark(.resetByPeer, newValue) }
    }
    /// True if the peer has not processed the stream: REFUSED_STREAM, or above its GOAWAY (RFC 9113 §8.7).
    package internal(set) var isUnprocessed: Bool {
        get { marks.contains(.unprocessed) }
        set { mark(.unprocessed, newValue) }
    }
    package internal(set) var isClosed: Bool {
        get { marks.contains(.closed) }
        set { mark(.closed, newValue) }
    }

    /// Called, never from inside of the session, when any of this has changed.
    package var onChange: (() -> Void)? {
        get { listener }
        set { listener = newValue }
    }
    /// True while somebody waits for content to be framed: only then does that count as a change.
    package var isAwaited: Bool {
        get { marks.contains(.awaited) }
        set { mark(.awaited, newValue) }
    }
    /// True once an exchange serves the stream.
    package var isTaken: Bool {
        get { marks.contains(.taken) }
        set { mark(.taken, newValue) }
    }
    /// A client's side: true once a frame that ends the stream has begun to arrive.
    var isEnding: Bool {
        get { marks.contains(.ending) }
        set { mark(.ending, newValue) }
    }
    /// True if the stream is in the list of changed streams.
    var isTouched: Bool {
        get { marks.contains(.touched) }
        set { mark(.touched, newValue) }
    }
    /// True once the stream was reported as new.
    var isAnnounced: Bool {
        get { marks.contains(.announced) }
        set { mark(.announced, newValue) }
    }
}
