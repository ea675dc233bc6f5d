// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// What one stream of an ``HTTP2Session`` has received, and what of it is to be sent.
///
/// It outlives the stream: what has arrived can still be read once the stream is closed. Confined to the thread of its
/// session.
package final class HTTP2Stream {
    /// Odd and growing (RFC 9113 §5.1.1).
    package internal(set) var id: Int32

    // MARK: What comes in

    /// A server's side: the head; complete once ``hasHead`` is true.
    package var request = HTTPRequest()
    /// A client's side: the heads that nobody has taken, interim ones first.
    package var responses: [HTTPResponse] = []
    /// The protocol that an extended CONNECT asks for (RFC 8441), in place of the method's usual meaning.
    package internal(set) var connectProtocol: String?
    /// Whether the head of a request, or the final head of a response, is there.
    package internal(set) var hasHead = false
    /// What is wrong with the message, where it can be answered in place of a reset.
    package internal(set) var fault: MessageFault?
    /// The length that the head declares; nil without one.
    package internal(set) var declaredLength: UInt64?
    /// Content that has arrived and is not consumed.
    package internal(set) var received = StreamBytes()
    /// How much content has arrived.
    package internal(set) var receivedCount: UInt64 = 0
    /// Whether the peer has ended its direction; ``trailers`` are complete then.
    package internal(set) var hasEnd = false
    package internal(set) var trailers = HTTPFields()

    /// How much of ``received`` may be handed out.
    ///
    /// The last byte of a declared length waits for the end of the stream, so that nobody who writes the message as HTTP/1.1
    /// has sent all of one that goes on, and is malformed.
    package var readableCount: Int {
        guard !hasEnd, let declaredLength, receivedCount >= declaredLength else { return received.count }
        return max(0, received.count - 1)
    }

    // MARK: What goes out

    /// Content that waits for the connection and the peer's window.
    package internal(set) var sending = StreamBytes()
    /// Whether ``sending`` is all that is left of the message.
    var endsAfterSending = false
    var trailersToSend: HTTPFields?
    /// Whether fields follow the content that is to be sent.
    package var hasTrailersToSend: Bool { trailersToSend != nil }
    /// Whether the head of the message, or the final head, has been given to the session.
    package internal(set) var hasBegunSending = false
    /// Whether everything, the end included, has been framed.
    package internal(set) var hasSentEnd = false
    /// How many bytes of content have been framed.
    package internal(set) var sentCount: UInt64 = 0

    // MARK: Its life

    /// Why the stream has ended early, on either side; nil while it goes on, and where both sides have ended in good order.
    package internal(set) var resetCode: HTTP2ErrorCode?
    /// Whether it was the peer that reset it.
    package internal(set) var isResetByPeer = false
    /// Whether the peer has said that it has done nothing with it: REFUSED_STREAM, or above the last stream of its GOAWAY.
    package internal(set) var isUnprocessed = false
    package internal(set) var isClosed = false

    /// Called, never from inside of the session, when any of this has changed.
    package var onChange: (() -> Void)?
    /// Whether somebody serves it.
    package var isTaken = false
    /// Whether it is among those that have changed since they were taken.
    var isTouched = false
    /// Whether it was handed out as new.
    var isAnnounced = false

    init(id: Int32) { self.id = id }

    /// A stream of our own, which ``HTTP2Session/request(_:on:scheme:hasContent:takesTrailers:connectProtocol:)`` begins.
    package convenience init() { self.init(id: 0) }

    /// Forgets the content that has arrived, and keeps no memory for it.
    package func letGo() { received = StreamBytes() }
}
