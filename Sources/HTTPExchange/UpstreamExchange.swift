// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A request to an upstream, and its answer, whatever protocol carries them.
///
/// A pool has it begin and end.
package protocol UpstreamExchange: MessageExchange {
    associatedtype Arrivals: ArrivalSource

    /// Whether its connection has carried no request before this one.
    var isFirst: Bool { get }

    /// Whether the upstream has said that it did nothing with the request, and never will: it can then be sent once more
    /// whatever its method (RFC 9113 §8.7), and that says nothing of how long connections last.
    ///
    /// False where a protocol has no way to say so, as HTTP/1.1.
    var isLeftUnprocessed: Bool { get }

    /// Writes the head of the request, with what the protocol itself has to say in it; ``outgoing`` keeps it until its
    /// next send.
    func begin(_ head: inout HTTPRequest, as form: RequestForm)

    /// The head of the answer.
    var response: HTTPResponse { get set }

    /// Whether anything of the answer waits to be read.
    var hasArrived: Bool { get }

    /// Reads a head into ``response``, if all of it is there; interim ones (1xx) come first.
    ///
    /// - Returns: whether it was.
    /// - Throws: if it is no head.
    func receiveHead() throws(MessageError) -> Bool

    /// Waits for more of a head, or for whatever comes behind an answer, the upstream's end too.
    var arrivals: Arrivals { get }

    /// Begins the content of the answer whose head is in ``response``.
    ///
    /// - Parameter method: of the request.
    /// - Returns: how much there is.
    func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength

    /// Whether the upstream will take another request on the connection once this exchange is over.
    var persists: Bool { get }
}
