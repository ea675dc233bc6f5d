// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// An answer of a small service.
package struct ServiceReply: Sendable {
    /// The body of an answer.
    package enum Body: Sendable {
        /// The complete body, sent with a Content-Length.
        case bytes([UInt8])
        /// A function that sends the body in chunks; the answer ends when it returns and is cut when it
        /// throws.
        case stream(@Sendable (ServiceBodyWriter) async throws -> Void)
    }

    package var head: HTTPResponse
    package var body: Body

    package init(head: HTTPResponse, body: Body = .bytes([])) {
        self.head = head
        self.body = body
    }

    /// An answer with the status and no body.
    package init(refusing reason: ServiceRefusal) {
        self.init(head: HTTPResponse(status: reason.status))
    }
}
