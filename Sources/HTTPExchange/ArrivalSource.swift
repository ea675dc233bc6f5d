// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// The receiving side of an exchange, as far as waiting for more data goes.
///
/// This is a protocol of its own so that a wait is a single call of the stream itself: each async call costs
/// some 150 instructions.
package protocol ArrivalSource: AnyObject {
    /// Waits for more of the message that is coming.
    ///
    /// - Parameter timeout: zero waits for ever.
    /// - Returns: false if the peer has ended instead.
    func more(within timeout: Duration) async throws(StreamError) -> Bool
}

extension ByteStream: ArrivalSource {}
