// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPExchange

/// A client's exchange of another kind: one stream of a connection that carries several at a time, and outlives each.
final class FakeStream: FakeClient {
    /// Whether the rest of this stream's request was given up.
    private(set) var isLeftUnread = false
    /// Whether the connection was told to begin no other stream.
    private(set) var endsConnection = false

    /// What is left of one stream's request is none of its connection's business.
    override func leaveRequestUnread() { isLeftUnread = true }

    override func endConnectionAfterAnswer() { endsConnection = true }
}
