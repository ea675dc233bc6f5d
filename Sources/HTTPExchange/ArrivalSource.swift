// SPDX-License-Identifier: Apache-2.0

package import EventLoop

/// What comes in on an exchange's connection, of which somebody waits for more.
///
/// A protocol of its own, so that to wait is one call of what really waits: each async call costs some 150
/// instructions.
package protocol ArrivalSource: AnyObject {
    /// Waits for more.
    ///
    /// - Parameters:
    ///   - timeout: zero waits for ever.
    ///   - capacity: how much may be received at once, in bytes.
    ///   - isInside: whether more must come, because a message is not whole.
    /// - Returns: false if the peer has ended instead.
    func fill(within timeout: Duration, capacity: Int, isInside: Bool) async throws(StreamError) -> Bool
}

extension ByteStream: ArrivalSource {}
