// SPDX-License-Identifier: Apache-2.0

import HTTPClient
import HTTPTypes
import TestSupport
import Testing

@Suite struct PlainUpstreamTests {
    @Test func `a plain connection carries requests one after the other`() async throws {
        let upstream = try RawUpstream()
        let address = try upstream.address()
        let answers = try await onLoop { multis in
            let connector = UpstreamConnector(address: address, multis: multis)
            let connection = try await connector.connect(within: .seconds(5))
            return [try await connection.exchange(), try await connection.exchange()]
        }
        #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") && $0.hasSuffix("hello") })
        #expect(upstream.connectionCount == 1)
        try upstream.awaitNoConnections()
    }

    @Test func `a port on which nobody listens refuses`() async throws {
        let (socket, address) = try Socket.refusing()
        defer { withExtendedLifetime(socket) {} }
        let target = UpstreamAddress(url: try url("http://\(address)"))
        await #expect(throws: UpstreamError.connectionRefused) {
            try await onLoop { multis in
                _ = try await UpstreamConnector(address: target, multis: multis).connect(within: .seconds(5))
            }
        }
    }
}
