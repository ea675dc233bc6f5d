// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP2
package import BearerdHTTPMessages

/// The head of a message that waits for its first send, when it is known if content follows.
package enum StreamHead {
    /// An answer to the peer's request.
    case response(HTTPResponse)
    /// A request of our own.
    ///
    /// - Parameters:
    ///   - takesTrailers: true if whoever reads the answer wants its trailers (RFC 9110 §10.1.4).
    ///   - tunnel: the protocol of an extended CONNECT (RFC 8441); nil for a message.
    case request(HTTPRequest, scheme: HTTPURL.Scheme, takesTrailers: Bool, tunnel: String?)

    /// Gives the head to the session, which begins a stream with a request.
    consuming func send(on stream: HTTP2Stream, of session: HTTP2Session, hasContent: Bool) {
        switch consume self {
        case .response(let head): session.respond(head, hasContent: hasContent, on: stream)
        case .request(let head, let scheme, let takesTrailers, let tunnel):
            // A tunnel has no end of a message, though the request that asks for it has.
            _ = session.request(
                head, on: stream, scheme: scheme, hasContent: hasContent || tunnel != nil,
                takesTrailers: takesTrailers, connectProtocol: tunnel)
        }
    }
}
