// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// What comes in on an exchange, of which somebody waits for more.
///
/// A protocol of its own, so that to wait is one call of what really waits: each async call costs some 150
/// instructions.
package protocol ArrivalSource: AnyObject {
    /// Waits for more of the message that is coming.
    ///
    /// - Parameter timeout: zero waits for ever.
    /// - Returns: false if the peer has ended instead.
    func more(within timeout: Duration) async throws(StreamError) -> Bool
}

extension ByteStream: ArrivalSource {}
