// SPDX-License-Identifier: Apache-2.0

public import BearerdHTTPMessages
package import BearerdJSON

/// The metadata of an authorization server (RFC 8414 §2, OpenID Connect Discovery §3).
public struct ServiceConfiguration: Sendable {
    /// `issuer`.
    public let issuer: String
    /// The endpoints with usable URLs.
    public private(set) var endpoints: [Endpoint: HTTPURL]
    /// The endpoints for clients with a certificate (`mtls_endpoint_aliases`, RFC 8705 §5).
    public private(set) var aliases: [Endpoint: HTTPURL]
    /// All members, of both documents if there are two.
    package private(set) var document: JSONObject

    /// - Returns: nil if the object has no `issuer`.
    package init?(document: JSONObject) {
        guard let issuer = document[MetadataMember.issuer.rawValue]?.string else { return nil }
        self.issuer = issuer
        self.document = document
        endpoints = Self.endpoints(in: document)
        aliases = document[MetadataMember.aliases.rawValue]?.object.map(Self.endpoints) ?? [:]
    }

    /// The member of this name if it is a string; nil otherwise.
    public subscript(member: String) -> String? { document[member]?.string }

    /// All members as one JSON object.
    public var json: String { String(decoding: document.serialized(), as: UTF8.self) }

    private static func endpoints(in object: JSONObject) -> [Endpoint: HTTPURL] {
        var endpoints: [Endpoint: HTTPURL] = [:]
        for endpoint in Endpoint.allCases {
            endpoints[endpoint] = object[endpoint.rawValue]?.string.flatMap(HTTPURL.init)
        }
        // A remote server must not direct requests to a Unix socket of this machine.
        return endpoints.filter { $0.value.scheme != .unix }
    }

    /// These metadata with the members of `other` that they lack.
    package func merged(with other: ServiceConfiguration) -> ServiceConfiguration {
        var merged = self
        merged.endpoints.merge(other.endpoints) { first, _ in first }
        merged.aliases.merge(other.aliases) { first, _ in first }
        for (name, value) in other.document where document[name] == nil { merged.document[name] = value }
        return merged
    }

    /// Fetches the metadata of a server, of every document that it has.
    ///
    /// - Parameters:
    ///   - configuration: its issuer, or the URL of its document.
    ///   - transport: carries the requests.
    /// - Throws: ``TokenFailure`` if there is no document, or it is that of another issuer.
    public static func discover(
        for configuration: ClientConfiguration, over transport: any TokenTransport
    ) async throws(TokenFailure) -> ServiceConfiguration {
        try await ServiceDiscovery(configuration: configuration, transport: transport)
            .discover(wanting: nil).service
    }
}

extension ServiceConfiguration: CustomStringConvertible {
    /// The issuer and the names of its endpoints in one line.
    public var description: String {
        let names = Endpoint.allCases.filter { endpoints[$0] != nil }.map(\.rawValue)
        return "metadata of \(issuer) (\(names.joined(separator: ", ")))".onOneLine
    }
}

/// A member of a metadata document that is no endpoint (RFC 8414 §2).
enum MetadataMember: String {
    case issuer
    /// RFC 8705 §5.
    case aliases = "mtls_endpoint_aliases"
    /// RFC 9207 §3.
    case responsesHaveIssuer = "authorization_response_iss_parameter_supported"
    /// RFC 9449 §5.1.
    case proofAlgorithms = "dpop_signing_alg_values_supported"
    /// RFC 9126 §5.
    case requiresPushedRequests = "require_pushed_authorization_requests"
}
