// SPDX-License-Identifier: Apache-2.0

/// How far an exchange has come with its peer: two that are equal say that nothing passed in between.
package struct ExchangeProgress: Equatable, Sendable {
    private let received: UInt64
    private let sent: UInt64
    private let untaken: Int

    /// - Parameters:
    ///   - received: bytes so far.
    ///   - sent: bytes so far.
    ///   - untaken: how many of those the peer has not taken.
    package init(received: UInt64, sent: UInt64, untaken: Int) {
        self.received = received
        self.sent = sent
        self.untaken = untaken
    }
}
