// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP1

/// Sends a service's answer piece by piece, each at once.
package final class ServiceBodyWriter {
    private let stream: ByteStream
    private let isChunked: Bool
    private let loop: EventLoop
    private let timeout: Duration
    /// When the client had taken all that was sent.
    private var lastTaken = ContinuousClock.now

    init(stream: ByteStream, isChunked: Bool, loop: EventLoop, timeout: Duration) {
        self.stream = stream
        self.isChunked = isChunked
        self.loop = loop
        self.timeout = timeout
    }

    /// Sends `bytes`, waiting until the client takes them.
    ///
    /// - Parameter limit: of each wait; nil for the service's own.
    /// - Throws: `StreamError` when the client has gone or takes nothing for too long.
    package func write(_ bytes: [UInt8], within limit: Duration? = nil) async throws {
        guard !bytes.isEmpty else { return }
        var output: [UInt8] = []
        if isChunked { ChunkedEncoder.head(of: bytes.count, into: &output) }
        output.append(contentsOf: bytes)
        if isChunked { ChunkedEncoder.dataEnd(into: &output) }
        try await stream.write(output, within: limit ?? timeout)
    }

    /// Lets `duration` pass before the next piece, as long as the client is there and reads.
    ///
    /// - Parameter patience: how long it may leave something that was sent in the network.
    /// - Throws: `StreamError` when it has gone, or does not read.
    package func pause(for duration: Duration, whileTakenWithin patience: Duration) async throws(StreamError)
    {
        await loop.pause(for: duration)
        guard stream.lookAtPeer() == .present else { throw .closed }
        if stream.isTaken { lastTaken = .now }
        guard ContinuousClock.now - lastTaken < patience else { throw .timedOut }
    }

    /// Lets `duration` pass before the next piece.
    package func pause(for duration: Duration) async { await loop.pause(for: duration) }

    /// Ends the body.
    func finish() async throws {
        guard isChunked else { return }
        var output: [UInt8] = []
        ChunkedEncoder.end(into: &output)
        try await stream.write(output, within: timeout)
    }
}
