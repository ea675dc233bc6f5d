// SPDX-License-Identifier: Apache-2.0

public import HTTPMessages

/// Carries requests to the authorization server.
///
/// It verifies certificates, follows no redirect, and returns or throws within the request's time limit.
public protocol TokenTransport: Sendable {
    /// Sends a request, and returns the whole answer whatever its status.
    ///
    /// - Throws: ``TransportError`` if none came.
    func send(_ request: TransferRequest) async throws(TransportError) -> ProviderResponse
}
