// SPDX-License-Identifier: Apache-2.0

public import HTTPMessages
package import JSON

/// What an authorization server says of itself (RFC 8414 §2, OpenID Connect Discovery §3).
public struct ServiceConfiguration: Sendable {
    /// The name that the server gives itself.
    public let issuer: String
    /// Endpoints with a URL that can be used; others are left out as if not given.
    public private(set) var endpoints: [Endpoint: HTTPURL]
    /// Where clients with a certificate are to go instead (RFC 8705 §5).
    public private(set) var aliases: [Endpoint: HTTPURL]
    /// Every member, of both documents where there were two.
    package private(set) var document: JSONObject

    /// - Returns: nil if the object has no `issuer`, and so is no metadata document.
    package init?(document: JSONObject) {
        guard let issuer = document[MetadataMember.issuer.rawValue]?.string else { return nil }
        self.issuer = issuer
        self.document = document
        endpoints = Self.endpoints(in: document)
        aliases = document[MetadataMember.aliases.rawValue]?.object.map(Self.endpoints) ?? [:]
    }

    /// A member of the metadata that is text, by its name; nil where it is missing, or something else.
    public subscript(member: String) -> String? { document[member]?.string }

    /// All metadata as one JSON object.
    public var json: String { String(decoding: document.serialized(), as: UTF8.self) }

    private static func endpoints(in object: JSONObject) -> [Endpoint: HTTPURL] {
        var endpoints: [Endpoint: HTTPURL] = [:]
        for endpoint in Endpoint.allCases {
            endpoints[endpoint] = object[endpoint.rawValue]?.string.flatMap(HTTPURL.init)
        }
        // No server that is asked over the network may lead us to a socket of this machine.
        return endpoints.filter { $0.value.scheme != .unix }
    }

    /// Adds what `other` says and this does not.
    public func merged(with other: ServiceConfiguration) -> ServiceConfiguration {
        var merged = self
        merged.endpoints.merge(other.endpoints) { first, _ in first }
        merged.aliases.merge(other.aliases) { first, _ in first }
        for (name, value) in other.document where document[name] == nil { merged.document[name] = value }
        return merged
    }
}
