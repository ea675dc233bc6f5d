// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A request to an upstream and its response, whatever protocol carries them.
///
/// An ``ExchangePool`` begins and ends it.
package protocol UpstreamExchange: MessageExchange {
    associatedtype Arrivals: ArrivalSource

    /// True if the response may tell in its trailers what others tell by their status, as gRPC's do.
    var isJudgedByTrailers: Bool { get }

    /// True if the connection has carried no request before this one.
    var isFirst: Bool { get }

    /// True if the upstream has said that it did not process the request and never will.
    ///
    /// The request can then be sent again whatever its method (RFC 9113 §8.7), and the pool learns nothing
    /// about how long connections last. Always false where the protocol cannot say so, as HTTP/1.1.
    var isLeftUnprocessed: Bool { get }

    /// True if the upstream has not answered the request because it wants it by another protocol (RFC 9113 §7,
    /// HTTP_1_1_REQUIRED).
    var wantsOtherProtocol: Bool { get }

    /// True once an interim head (1xx) of the response was read: the upstream may have begun to process the request.
    var hasReadInterim: Bool { get }

    /// Why there is no response, once the exchange has ended without one.
    var loss: ResponseLoss { get }

    /// Writes the head of the request with the fields that belong to the protocol, and keeps it in
    /// ``outgoing`` until the next send.
    ///
    /// ``RequestForm/upgrade`` asks for a tunnel. An upstream grants it with a ``response`` of status 101 whose `Upgrade`
    /// names the protocol, however its own protocol says that.
    func begin(_ head: inout HTTPRequest, as form: RequestForm)

    /// The head of the response.
    @_borrowed var response: HTTPResponse { get set }

    /// True if a byte of the response waits to be read.
    var hasArrived: Bool { get }

    /// Reads a head into ``response`` if a complete one has arrived; interim ones (1xx) come first.
    ///
    /// - Returns: true if a head was read.
    /// - Throws: ``MessageError`` if the bytes are not a head.
    func receiveHead() throws(MessageError) -> Bool

    /// The wait for more of the head, or for data after a response, including the end of the connection.
    var arrivals: Arrivals { get }

    /// Begins the content of the response whose head is in ``response``.
    ///
    /// - Parameter method: the method of the request.
    /// - Returns: the length of the content, as far as the head tells it.
    func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength

    /// The status of a call of gRPC in the trailers of the response, once those have come; nil without one.
    var trailingCallStatus: Int? { get }

    /// The code by which the upstream has reset a response that had begun, if it tells a caller of gRPC more than that the
    /// response broke off; nil otherwise, and where the protocol has no such codes.
    var tellingResetCode: UInt32? { get }

    /// True if the connection can carry another request once this exchange is over.
    var persists: Bool { get }
}

/// Why a request has no response.
package enum ResponseLoss: Equatable, Sendable {
    /// The connection has ended.
    case connection
    /// The connection has ended inside the head of the response.
    case head
    /// We have ended the connection, because nothing came on it any more, not even an answer to a PING.
    case silence
    /// The upstream has ended this exchange; others on the connection may go on.
    case exchange
    /// We have ended the connection, because the upstream broke the protocol.
    case breach
    /// We have ended the connection, because the upstream sent more of a kind, told in words, than anybody needs to send.
    case flood(of: String)

    /// The same of an upstream that has us change the keys of TLS, and sends nothing else.
    package static let floodOfTLS = ResponseLoss.flood(of: "changed keys of TLS")
}

extension UpstreamExchange {
    package var loss: ResponseLoss { .connection }
    package var wantsOtherProtocol: Bool { false }
    package var hasReadInterim: Bool { false }
    package var tellingResetCode: UInt32? { nil }
    package var trailingCallStatus: Int? { incoming.trailers.grpcStatus }
}
