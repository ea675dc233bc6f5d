// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import BearerdJSONText

/// Fetches the metadata of an authorization server.
struct ServiceDiscovery {
    let configuration: ClientConfiguration
    let transport: any TokenTransport

    /// Fetches the metadata: the second document too if the first is missing or lacks `endpoint`.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that is needed; nil for the members of all documents.
    ///   - wall: the civil time; without it a `Retry-After` that is a date counts as none.
    /// - Returns: the metadata; `isComplete` is true if no other document may have more.
    /// - Throws: ``TokenFailure`` if there is no document.
    func discover(
        wanting endpoint: Endpoint?, at wall: WallTime? = nil
    ) async throws(TokenFailure) -> (service: ServiceConfiguration, isComplete: Bool) {
        var found: ServiceConfiguration?
        var failures: [TokenFailure] = []
        let addresses = try addresses()
        for address in addresses {
            switch try await look(at: address, when: wall) {
            case .document(let next):
                found = found?.merged(with: next) ?? next
            case .nothing(let failure):
                failures.append(failure.at(address.hostAndPort))
            case .hopeless(let failure):
                if found == nil { throw failure.at(address.hostAndPort) }
                failures.append(failure)
            }
            if let found, let endpoint, found.endpoints[endpoint] != nil {
                return (found, address == addresses.last)
            }
        }
        // A document that could not be had now may have more the next time.
        if let found { return (found, failures.allSatisfy { $0.kind != .transient }) }
        // A transient failure counts most: the document may be there in a minute.
        throw failures.first { $0.kind == .transient } ?? failures.first
            ?? TokenFailure(.misconfigured, .noMetadata, detail: "there is no metadata document")
    }

    /// The result of one fetch.
    private enum Finding {
        case document(ServiceConfiguration)
        /// No document, but another address may have one.
        case nothing(TokenFailure)
        /// The server cannot be reached, or is another one: the other address need not be asked.
        case hopeless(TokenFailure)
    }

    /// The URLs of the documents, in the order in which they count.
    func addresses() throws(TokenFailure) -> [HTTPURL] {
        if let url = configuration.discoveryURL { return [url] }
        guard let text = configuration.issuer else {
            throw TokenFailure(
                .misconfigured, .badIssuer, detail: "no \(configuration.name(of: .issuer)) is configured")
        }
        guard let issuer = HTTPURL(text), issuer.query == nil else {
            throw TokenFailure(.misconfigured, .badIssuer, detail: "issuer '\(text)' is no URL")
        }
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        return [
            "\(issuer.origin)\(path)/.well-known/openid-configuration",  // OpenID Connect Discovery §4
            "\(issuer.origin)/.well-known/oauth-authorization-server\(path)",  // RFC 8414 §3.1
        ].compactMap(HTTPURL.init)
    }

    private func look(at url: HTTPURL, when wall: WallTime?) async throws(TokenFailure) -> Finding {
        try configuration.permit(url)
        var request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.accept, "application/json")
        var response: TransportResponse
        do throws(TransportError) {
            response = try await transport.send(request)
        } catch {
            return .hopeless(TokenFailure(error, to: request))
        }
        response.place = url.place
        switch response.status {
        case 200:
            return read(response.body, from: url)
        case 400..<500 where !response.isTemporary:
            return .nothing(
                TokenFailure(
                    .misconfigured, .noMetadata,
                    detail: "\(response.answered): no provider is described there; look at \(key)"))
        default:
            let failure = TokenFailure(
                .transient, .status(response.status), detail: response.answered,
                retryAfter: RetryAfter.delay(in: response.fields, wall: wall))
            // Whoever asks for less is not asked for more.
            return response.status == 429 ? .hopeless(failure) : .nothing(failure)
        }
    }

    /// The name of the setting that leads to the documents.
    private var key: String {
        configuration.name(of: configuration.discoveryURL == nil ? .issuer : .discoveryURL)
    }

    private func read(_ body: [UInt8], from url: HTTPURL) -> Finding {
        guard let object = try? JSONObject(parsing: body.withoutByteOrderMark),
            let service = ServiceConfiguration(document: object)
        else {
            let detail = "what \(url.place) answers is no metadata document; look at \(key)"
            return .nothing(TokenFailure(.misconfigured, .noMetadata, detail: detail))
        }
        guard configuration.issuer?.hasSameBytes(as: service.issuer) ?? true else {
            let detail =
                "\(url.place) names the issuer '\(service.issuer.shownIssuer)', the configuration "
                + "'\(configuration.issuer ?? "")': look at issuer, both must be the same to the letter"
            return .hopeless(TokenFailure(.misconfigured, .issuerMismatch, detail: detail))
        }
        return .document(service)
    }
}

extension String {
    /// This issuer of a peer for error messages: at most 200 characters of printable ASCII, and no secret.
    var shownIssuer: String {
        let text = String(decoding: utf8.prefix(2000), as: UTF8.self)
        return String(
            SecretListing.cleared(text).unicodeScalars.prefix(200).map {
                0x20...0x7E ~= $0.value ? Character($0) : "?"
            })
    }
}
