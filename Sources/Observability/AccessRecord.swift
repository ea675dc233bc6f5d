// SPDX-License-Identifier: Apache-2.0

/// The data of one request for the access log, apart from its route, target and identifier.
///
/// Not copyable, because it is written once for each request, and a copy would cost more than the text of the
/// line.
package struct AccessRecord: ~Copyable, Sendable {
    /// When the response ended, in milliseconds since 1970.
    package var unixMilliseconds: Int64
    /// The time from the first byte of the request's head to the last byte of the response.
    package var duration: Duration
    /// The request method, as it was sent.
    package var method: String
    /// The client's protocol, such as `HTTP/1.1`.
    package var protocolName: StaticString
    /// The status the client saw.
    package var status: Int
    /// The status of a gRPC call, where it is known; nil for any other request.
    package var grpcStatus: Int?
    /// The `code` of an error response of bearerd's own; empty for the upstream's response.
    package var code: String
    /// The content bytes received from the client.
    package var bytesIn: UInt64
    /// The content bytes sent to the client.
    package var bytesOut: UInt64
    /// True if the request was sent again with another token.
    package var isReplayed: Bool
    /// The client's address.
    package var peer: String

    package init(
        unixMilliseconds: Int64, duration: Duration, method: String,
        protocolName: StaticString = "HTTP/1.1", status: Int, grpcStatus: Int? = nil, code: String = "",
        bytesIn: UInt64 = 0, bytesOut: UInt64 = 0, isReplayed: Bool = false, peer: String
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.duration = duration
        self.method = method
        self.protocolName = protocolName
        self.status = status
        self.grpcStatus = grpcStatus
        self.code = code
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.isReplayed = isReplayed
        self.peer = peer
    }
}
