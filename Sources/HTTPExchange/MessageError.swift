// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPMessages

/// Why an HTTP message could not be received whole.
package enum MessageError: Error, Equatable, Sendable {
    /// What arrived is not HTTP/1.1 as this program accepts it.
    case malformed(HTTPParseError)
    /// The body is larger than this program was told to accept.
    case bodyTooLarge
    /// The client speaks plain HTTP where it should speak HTTPS.
    case unencrypted
    /// The head did not arrive whole within the time-out.
    case headTimedOut
    /// The peer ended its direction in the middle of the message.
    case truncated
    /// The stream below failed or was too slow.
    case stream(StreamError)
}
