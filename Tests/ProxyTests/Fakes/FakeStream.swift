// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPExchange

/// A client's exchange of another kind: one stream of a connection that carries several at a time, and outlives each.
final class FakeStream: FakeClient {
    /// True if the rest of this stream's request was abandoned.
    private(set) var isLeftUnread = false
    /// True if the connection was told to begin no other stream.
    private(set) var endsConnection = false

    /// Leaves the connection as it is, because other streams share it.
    override func leaveRequestUnread() { isLeftUnread = true }

    override func endConnectionAfterAnswer() { endsConnection = true }
}
