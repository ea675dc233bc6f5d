// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP1
internal import BearerdSystem

/// Sends a service's answer piece by piece without buffering.
package final class ServiceBodyWriter {
    private let stream: ByteStream
    private let isChunked: Bool
    private let loop: EventLoop
    private let timeout: Duration
    /// When the client last had everything that was sent to it.
    private var lastTaken = ContinuousClock.now

    init(stream: ByteStream, isChunked: Bool, loop: EventLoop, timeout: Duration) {
        self.stream = stream
        self.isChunked = isChunked
        self.loop = loop
        self.timeout = timeout
    }

    /// Sends `bytes` and waits until the client takes them.
    ///
    /// - Parameter limit: limits each wait; nil means the service's time-out.
    /// - Throws: `StreamError` if the client has left or takes nothing for too long.
    package func write(_ bytes: [UInt8], within limit: Duration? = nil) async throws {
        guard !bytes.isEmpty else { return }
        var output = ByteBlock()
        if isChunked { ChunkedEncoder.head(of: bytes.count, into: &output) }
        output.append(bytes.span)
        if isChunked { ChunkedEncoder.dataEnd(into: &output) }
        try await stream.write(output, within: limit ?? timeout)
    }

    /// Waits `duration` before the next piece, provided that the client is there and reads.
    ///
    /// - Parameter patience: how long sent data may wait in the network.
    /// - Throws: `StreamError` if the client has left or does not read.
    package func pause(for duration: Duration, whileTakenWithin patience: Duration) async throws(StreamError)
    {
        await loop.pause(for: duration)
        guard stream.lookAtPeer() == .present else { throw .closed }
        if stream.isTaken { lastTaken = .now }
        guard ContinuousClock.now - lastTaken < patience else { throw .timedOut }
    }

    /// Waits `duration` before the next piece.
    package func pause(for duration: Duration) async { await loop.pause(for: duration) }

    /// Ends the body.
    func finish() async throws {
        guard isChunked else { return }
        var output = ByteBlock()
        ChunkedEncoder.end(into: &output)
        try await stream.write(output, within: timeout)
    }
}
