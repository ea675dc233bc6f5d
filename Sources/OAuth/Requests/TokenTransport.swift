// SPDX-License-Identifier: Apache-2.0

public import BearerdHTTPMessages

/// Carries requests to the authorization server.
///
/// It verifies certificates, follows no redirect, and returns or throws within the request's time limit.
public protocol TokenTransport: Sendable {
    /// Sends a request and returns the whole response, whatever its status.
    ///
    /// - Throws: ``TransportError`` if no response came.
    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse
}

extension TransferRequest {
    /// The header fields in the order in which they are sent.
    public var headers: [NamedValue] {
        var headers: [NamedValue] = []
        fields.forEach { name, value in headers.append(NamedValue("\(name)", value)) }
        return headers
    }
}
