// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTP1

/// Sends a service's answer piece by piece, each at once.
package final class ServiceBodyWriter {
    private let stream: ByteStream
    private let isChunked: Bool
    private let loop: EventLoop
    private let timeout: Duration

    init(stream: ByteStream, isChunked: Bool, loop: EventLoop, timeout: Duration) {
        self.stream = stream
        self.isChunked = isChunked
        self.loop = loop
        self.timeout = timeout
    }

    /// Sends `bytes`, waiting until the client takes them.
    ///
    /// - Throws: `StreamError` when the client has gone or takes nothing for too long.
    package func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        var output: [UInt8] = []
        if isChunked { ChunkedEncoder.head(of: bytes.count, into: &output) }
        output.append(contentsOf: bytes)
        if isChunked { ChunkedEncoder.dataEnd(into: &output) }
        try await stream.write(output, within: timeout)
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
