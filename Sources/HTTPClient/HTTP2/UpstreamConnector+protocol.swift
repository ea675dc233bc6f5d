// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2Streams
package import BearerdHTTPExchange
internal import BearerdHTTPMessages

extension UpstreamConnector {
    /// Connects, and finds out which protocol the upstream speaks of those that the route's `upstream_protocol` allows.
    ///
    /// - Parameter timeout: of connecting, and of the upstream's first words; zero waits for ever.
    package func spokenProtocol(within timeout: Duration) async throws(UpstreamError) -> ApplicationProtocol {
        let connection = try await connect(within: timeout)
        defer { connection.close() }
        if connection.stream.applicationProtocol == .weakHTTP2 {
            guard address.httpProtocol != .http2 else { throw .weakCipher }
            return .http1
        }
        if address.url.scheme == .https, connection.stream.applicationProtocol != .http2 {
            guard address.httpProtocol != .http2 else { throw .noCommonProtocol }
            return .http1
        }
        guard address.httpProtocol == .http2 || address.url.scheme == .https else { return .http1 }
        let link = try HTTP2Link(
            over: connection, scheme: address.url.scheme == .https ? .https : .http, limits: headLimits,
            loop: multis.loop, pulse: UpstreamPool.Lifetimes().pulse, onEnd: { _ in })
        defer { link.connection.close() }
        try await link.awaitSettings(within: timeout)
        return .http2
    }
}
