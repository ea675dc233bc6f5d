// SPDX-License-Identifier: Apache-2.0

/// Limits on requests and connections (`limits`).
package struct LimitsConfiguration: Sendable {
    /// The longest request head, in bytes.
    package let headerBytes: Int
    /// The longest request target, in bytes.
    package let uriBytes: Int
    /// The longest request body, in bytes; nil for any.
    package let bodyBytes: Int?
    /// Client connections at a time, in the whole process.
    package let connections: Int
    /// HTTP/2 streams at a time, on each client connection.
    package let streams: Int
    /// Requests a second for each listener, with a burst of one second; nil for any number.
    package let requestsPerSecond: Int?
    /// Upstream connections at a time, for each route.
    package let upstreamConnections: Int
}

extension LimitsConfiguration {
    enum Key: String, ConfigurationKey {
        case headerBytes = "header_bytes"
        case uriBytes = "uri_bytes"
        case bodyBytes = "body_bytes"
        case connections
        case streams
        case requestsPerSecond = "requests_per_second"
        case upstreamConnections = "upstream_connections"
    }

    init(reading section: Section<Key>) {
        headerBytes = section.value(.headerBytes, .size(in: 1...16 << 20), default: 64 << 10)
        uriBytes = section.value(.uriBytes, .size(in: 1...16 << 20), default: 16 << 10)
        bodyBytes = section.value(.bodyBytes, .size(in: 0...Int.max))?.value
        connections = section.value(.connections, .integer(in: 1...1_000_000), default: 10_000)
        streams = section.value(.streams, .integer(in: 1...100_000), default: 100)
        requestsPerSecond = section.value(.requestsPerSecond, .integer(in: 1...1_000_000_000))?.value
        upstreamConnections = section.value(.upstreamConnections, .integer(in: 1...1_000_000), default: 1024)
    }
}
