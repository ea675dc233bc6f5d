// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import JSON

/// Fetches what an authorization server says of itself.
struct ServiceDiscovery {
    let configuration: ClientConfiguration
    let transport: any TokenTransport

    private static let mismatch = "issuer_mismatch"
    private static let missing = "no_metadata"
    private static let httpStatus = "http_"

    /// What the server says, with `endpoint` if it says that anywhere.
    ///
    /// The second document is fetched where the first is missing or lacks the endpoint; where only one of the two can
    /// be had, it is enough.
    ///
    /// - Throws: ``TokenFailure`` if there is no document.
    func discover(wanting endpoint: Endpoint) async throws(TokenFailure) -> ServiceConfiguration {
        var found: ServiceConfiguration?
        var failures: [TokenFailure] = []
        for address in try addresses() {
            do throws(TokenFailure) {
                let next = try read(try await fetch(address), from: address)
                found = found?.merged(with: next) ?? next
            } catch {
                // Asking a server that cannot be reached for another document only takes more time.
                let isHopeless = error.code != Self.missing && !error.code.hasPrefix(Self.httpStatus)
                if found == nil, isHopeless { throw error }
                failures.append(error)
            }
            if found?.endpoints[endpoint] != nil { break }
        }
        if let found { return found }
        // A server that is only out of order may have a document in a minute.
        throw failures.first { $0.kind == .transient } ?? failures.first
            ?? TokenFailure(.misconfigured, code: Self.missing, detail: "there is no metadata document")
    }

    /// Where the documents may be, in the order in which they count.
    private func addresses() throws(TokenFailure) -> [HTTPURL] {
        if let url = configuration.discoveryURL { return [url] }
        guard let issuer = configuration.issuer.flatMap(HTTPURL.init), issuer.query == nil else {
            throw TokenFailure(.misconfigured, code: "bad_issuer", detail: "the issuer is no URL")
        }
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        return [
            "\(issuer.origin)\(path)/.well-known/openid-configuration",  // OpenID Connect Discovery §4
            "\(issuer.origin)/.well-known/oauth-authorization-server\(path)",  // RFC 8414 §3.1
        ].compactMap(HTTPURL.init)
    }

    private func fetch(_ url: HTTPURL) async throws(TokenFailure) -> [UInt8] {
        try configuration.permit(url)
        var request = ProviderRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.accept, "application/json")
        let response: ProviderResponse
        do throws(TransportError) {
            response = try await transport.send(request)
        } catch {
            throw TokenFailure(error)
        }
        let detail = "\(url) answers \(response.status)"
        switch response.status {
        case 200:
            return response.body
        case 400..<500 where response.status != 408 && response.status != 429:
            throw TokenFailure(.misconfigured, code: Self.missing, detail: detail)
        default:
            throw TokenFailure(.transient, code: "\(Self.httpStatus)\(response.status)", detail: detail)
        }
    }

    private func read(_ body: [UInt8], from url: HTTPURL) throws(TokenFailure) -> ServiceConfiguration {
        guard let object = try? JSONObject(parsing: body),
            let service = ServiceConfiguration(document: object)
        else {
            throw TokenFailure(
                .misconfigured, code: Self.missing, detail: "what \(url) answers is no metadata document")
        }
        guard configuration.issuer == nil || configuration.issuer == service.issuer else {
            throw TokenFailure(
                .misconfigured, code: Self.mismatch,
                detail: "the metadata at \(url) names another issuer than the configuration")
        }
        return service
    }
}
