// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// What a small service answers.
package struct ServiceReply: Sendable {
    /// Where the bytes of an answer come from.
    package enum Body: Sendable {
        /// All of them, sent with a Content-Length.
        case bytes([UInt8])
        /// A writer that sends them as it goes, chunked; the answer ends when it returns and is cut when it throws.
        case stream(@Sendable (ServiceBodyWriter) async throws -> Void)
    }

    package var head: HTTPResponse
    package var body: Body

    package init(head: HTTPResponse, body: Body = .bytes([])) {
        self.head = head
        self.body = body
    }

    /// Tells no more than the status.
    package init(refusing reason: ServiceRefusal) {
        self.init(head: HTTPResponse(status: reason.status))
    }
}
