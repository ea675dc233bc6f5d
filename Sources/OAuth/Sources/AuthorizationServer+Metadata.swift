// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// Tokens of the metadata servers that clouds give to their machines.
extension AuthorizationServer {
    // MARK: Google

    /// An identity token for the configured audience, else an access token for the configured scope.
    func googleToken(
        of account: String, from server: HTTPURL, _ wall: WallTime
    ) async throws(TokenFailure) -> TokenResponse {
        let place =
            "\(server.origin)/computeMetadata/v1/instance/service-accounts/\(PercentEncoding.encoded(account))/"
        let audience = configuration.audience.first
        var target = "token"
        if let audience {
            target = "identity?audience=\(PercentEncoding.encoded(audience))&format=full"
        } else if !configuration.scope.isEmpty {
            target += "?scopes=\(PercentEncoding.encoded(configuration.scope.joined(separator: ",")))"
        }
        let response = try await ask(request(to: place + target, MetadataField.flavor, "Google"))
        guard response.status == 200 else { throw failure(of: response, wall) }
        let flavor = HTTPFields.Name(MetadataField.flavor.rawValue).flatMap { response.fields[$0] }
        guard flavor?.lowercased() == "google" else {
            throw TokenFailure(
                .transient, .badResponse,
                detail: "\(response.place) is no metadata server: it has no Metadata-Flavor")
        }
        if audience != nil { return try MetadataResponse(response).identityToken(at: wall) }
        return try MetadataResponse(response).accessToken(at: wall)
    }

    // MARK: Microsoft

    /// The token of a managed identity for the configured resource.
    func azureToken(
        of identity: AzureIdentity, _ wall: WallTime
    ) async throws(TokenFailure) -> TokenResponse {
        var address = "\(identity.endpoint)"
        address += identity.endpoint.query == nil ? "?" : "&"
        address += "api-version=\(identity.isOfAppService ? "2019-08-01" : "2018-02-01")"
        address += "&resource=\(PercentEncoding.encoded(configuration.resource.first ?? ""))"
        if let clientID = identity.clientID { address += "&client_id=\(PercentEncoding.encoded(clientID))" }
        let request: TransferRequest
        if identity.isOfAppService {
            let header = try await credentials.require(.identityHeader)
            guard header.isToken else {
                throw TokenFailure(
                    .misconfigured, .badCredential(.identityHeader),
                    detail: "IDENTITY_HEADER holds a byte that no header may hold")
            }
            request = try header.withPlaintext { header throws(TokenFailure) in
                try self.request(to: address, .identity, header)
            }
        } else {
            request = try self.request(to: address, .metadata, "true")
        }
        let response = try await ask(request)
        guard response.status == 200 else {
            var failure = failure(of: response, wall)
            // It answers so while it is being updated, too, and is to be asked again.
            if response.status == 404 {
                failure.kind = .transient
                failure.retryAfter = RetryAfter.delay(in: response.fields, wall: wall)
            }
            throw failure
        }
        return try MetadataResponse(response).accessToken(at: wall)
    }

    // MARK: Both

    private func request(
        to address: String, _ field: MetadataField, _ value: String
    ) throws(TokenFailure) -> TransferRequest {
        guard let url = HTTPURL(address), let name = HTTPFields.Name(field.rawValue) else {
            throw TokenFailure(
                .misconfigured, .badIssuer, detail: "the metadata server has no address that can be used")
        }
        var request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.staysNearby = url.scheme == .http
        request.fields.append(.accept, "application/json")
        request.fields.append(name, value)
        return request
    }
}

/// The fields that show a metadata server that no forged request of a browser is meant.
private enum MetadataField: String {
    case flavor = "Metadata-Flavor"
    case metadata = "Metadata"
    case identity = "X-IDENTITY-HEADER"
}
