// SPDX-License-Identifier: Apache-2.0

/// The bytes that an exchange has received and sent; two equal values mean that nothing passed in between.
package struct ExchangeProgress: Equatable, Sendable {
    private let received: UInt64
    package let sent: UInt64
    private let untaken: Int

    /// - Parameters:
    ///   - received: bytes received so far.
    ///   - sent: bytes sent so far.
    ///   - untaken: how many of the sent bytes the peer has not taken yet.
    package init(received: UInt64, sent: UInt64, untaken: Int) {
        self.received = received
        self.sent = sent
        self.untaken = untaken
    }
}
