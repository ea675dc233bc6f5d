// SPDX-License-Identifier: Apache-2.0

/// A stream's wait for some of its content to be sent, judged whenever as much time has passed as the peer has for that.
///
/// A stream whose own window is closed waits for its reader, whom the time-out is for. One whose window is open waits for its
/// turn and the connection's window, and its turn comes as long as its neighbours' content goes out.
package struct ContentWait {
    /// How much content of all streams had been sent when this was looked at last.
    private var seenCount: UInt64
    /// How many neighbours may still go first: a peer that takes a byte now and then holds nothing for ever.
    private var turnsLeft: Int

    package init(on session: HTTP2Session) {
        seenCount = session.sentCount
        turnsLeft = session.streamCount
    }

    /// - Returns: whether the stream may wait for as long again.
    package mutating func mayGoOn(_ stream: HTTP2Stream, on session: HTTP2Session) -> Bool {
        let seen = seenCount
        seenCount = session.sentCount
        guard turnsLeft > 0, seenCount != seen, session.streamWindow(of: stream) > 0 else { return false }
        turnsLeft -= 1
        return true
    }
}
