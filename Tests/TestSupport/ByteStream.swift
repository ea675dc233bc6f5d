// SPDX-License-Identifier: Apache-2.0

/// A connection, plain or TLS, with blocking calls that give up after a while.
package protocol ByteStream: AnyObject, Sendable {
    /// The next bytes, at most `limit` of them; none at the end of the stream.
    func read(upTo limit: Int, within time: Duration) throws -> [UInt8]
    /// Sends every byte.
    func write(_ bytes: [UInt8], within time: Duration) throws
    /// Tells the peer that no more is coming; reading goes on.
    func finishWriting()
    /// Ends both directions in an orderly way.
    func close()
    /// Ends the connection with a TCP reset.
    func reset()
    /// Ends the TCP connection without TLS's close_notify.
    func cut()
}

/// A system call on a test's own socket failed.
package struct SocketError: Error, CustomStringConvertible {
    /// The call's name.
    package let operation: String
    /// The call's `errno`.
    package let code: Int32

    package var description: String { "\(operation): errno \(code)" }
}
