// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// Why an HTTP message could not be received whole.
package enum MessageError: Error, Equatable, Sendable {
    /// What arrived is no message as this program accepts it.
    case malformed(MessageFault)
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
