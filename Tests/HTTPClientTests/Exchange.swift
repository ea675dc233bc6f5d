// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// A URL that a test knows to be right.
func url(_ text: String) throws -> HTTPURL { try #require(HTTPURL(text)) }

extension RawUpstream {
    /// How an upstream of the test is reached.
    func address(_ transport: Transport = Transport()) throws -> UpstreamAddress {
        UpstreamAddress(url: try HTTPClientTests.url(url), transport: transport)
    }
}

extension UpstreamConnection {
    /// Sends a request and returns its answer's head and body as text.
    func exchange(_ request: String = "GET / HTTP/1.1\r\nHost: test\r\n\r\n") async throws -> String {
        try await stream.write(Array(request.utf8), within: patience)
        return try await read(until: "hello")
    }

    /// Reads until `mark` has arrived.
    func read(until mark: String) async throws -> String {
        var text = ""
        while !text.hasSuffix(mark) {
            guard try await stream.fill(within: patience) else { break }
            text += takeInput()
        }
        return text
    }

    /// Removes and returns the received text.
    func takeInput() -> String {
        String(decoding: stream.input.takeAll(), as: UTF8.self)
    }
}

extension ByteBuffer {
    /// Takes what has arrived.
    func takeAll() -> [UInt8] {
        let bytes = withReadable { span in span.indices.map { span[$0] } }
        consume(bytes.count)
        return bytes
    }
}
