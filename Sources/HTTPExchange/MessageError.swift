// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// An HTTP message could not be received completely.
package enum MessageError: Error, Equatable, Sendable {
    /// The bytes are not a message that this program accepts.
    case malformed(MessageFault)
    /// The body is larger than this program was told to accept.
    case bodyTooLarge
    /// The client speaks plain HTTP where it should speak HTTPS.
    case unencrypted
    /// The head did not arrive whole within the time-out.
    case headTimedOut
    /// The peer ended its direction in the middle of the message.
    case truncated
    /// The transport below failed, or was too slow.
    case stream(StreamError)
}
