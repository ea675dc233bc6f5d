// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// One span of a trace, exported when it has ended.
///
/// No attribute holds a query, a header or a token.
package struct TraceSpan: Sendable {
    /// The kind of a span; the raw value is OTLP's.
    package enum Kind: Int, Sendable {
        case server = 2
        case client = 3
    }

    /// The value of an attribute.
    package enum Value: Equatable, Sendable {
        case text(String)
        case number(Int)
    }

    /// The operation, in a name of low cardinality.
    package var name: String
    package var kind: Kind
    package var context: TraceContext
    /// The identifier of the parent span; nil for the root of a trace.
    package var parent: UInt64?
    /// Nanoseconds since 1970.
    package var start: UInt64
    package var end: UInt64
    package var attributes: [(key: SpanKey, value: Value)]
    /// Related spans of other traces, or elsewhere in this one.
    package var links: [TraceContext]
    /// True if the operation failed.
    package var isError: Bool

    package init(
        name: String, kind: Kind, context: TraceContext, parent: UInt64? = nil, start: UInt64, end: UInt64,
        attributes: [(key: SpanKey, value: Value)] = [], links: [TraceContext] = [], isError: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
        self.end = end
        self.attributes = attributes
        self.links = links
        self.isError = isError
    }
}

/// The name of a span's attribute; every name is spelled here only (OpenTelemetry semantic conventions for
/// HTTP, and bearerd's own).
package enum SpanKey: String, Sendable {
    case method = "http.request.method"
    case methodOriginal = "http.request.method_original"
    case resendCount = "http.request.resend_count"
    case status = "http.response.status_code"
    case route = "http.route"
    case scheme = "url.scheme"
    case path = "url.path"
    case serverAddress = "server.address"
    case serverPort = "server.port"
    case clientAddress = "client.address"
    case protocolVersion = "network.protocol.version"
    case errorType = "error.type"
    case identity = "bearerd.identity"
    case grant = "bearerd.grant"
    case outcome = "bearerd.outcome"
    case serviceName = "service.name"
    case serviceVersion = "service.version"
}
