// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// Serves the connections of an ``HTTPService`` that begin with another protocol than HTTP/1.1.
package protocol OtherProtocol: Sendable {
    /// Returns true if what has come on a connection is the protocol's beginning.
    func begins(on stream: ByteStream) -> Bool

    /// Serves a connection until it ends; what has come is in its input.
    func serve(_ stream: ByteStream, from peer: PeerAddress, on loop: EventLoop) async
}
