// SPDX-License-Identifier: Apache-2.0

/// A plain or TLS connection with blocking calls that have time limits.
package protocol ByteStream: AnyObject, Sendable {
    /// Reads at most `limit` bytes; empty at the end of the stream.
    func read(upTo limit: Int, within time: Duration) throws -> [UInt8]
    /// Sends every byte.
    func write(_ bytes: [UInt8], within time: Duration) throws
    /// Sends the end of our direction; reading goes on.
    func finishWriting()
    /// Closes both directions in order: with TLS, close_notify comes first.
    func close()
    /// Ends the connection with a TCP reset.
    func reset()
    /// Closes the TCP connection without TLS's close_notify.
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
