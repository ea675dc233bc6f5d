// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON
import OAuth

extension Invariants {
    /// Checks the reading of metadata.
    ///
    /// The input is one document, or two with a line end between them.
    package static func violation(discovery bytes: [UInt8]) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        var service: ServiceConfiguration?
        for part in parts {
            guard let document = try? JSONObject(parsing: Array(part)),
                let next = ServiceConfiguration(document: document)
            else { continue }
            if let wrong = violation(of: next) { return wrong }
            guard let first = service else {
                service = next
                continue
            }
            let merged = first.merged(with: next)
            if let wrong = violation(of: merged) { return wrong }
            guard merged.issuer == first.issuer,
                first.endpoints.allSatisfy({ merged.endpoints[$0.key] == $0.value }),
                next.endpoints.allSatisfy({ merged.endpoints[$0.key] != nil })
            else { return "a first document that was contradicted, or a second that was ignored" }
        }
        return nil
    }

    private static func violation(of service: ServiceConfiguration) -> String? {
        for url in Array(service.endpoints.values) + service.aliases.values {
            guard url.scheme != .unix else { return "a socket of this machine" }
            guard HTTPURL(url.description) == url else { return "a URL that says something else" }
        }
        guard let endpoint = service.endpoints[.authorization] else { return nil }
        let configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: .authorizationCode)
        let request = AuthorizationRequest(
            configuration: configuration, endpoint: endpoint, redirectURI: "http://127.0.0.1:1/callback",
            issuer: service.issuer, requiresIssuer: false)
        guard let url = HTTPURL(request.url), let query = url.query else {
            return "a login without an address"
        }
        guard url.origin == endpoint.origin, url.path == endpoint.path else { return "a login elsewhere" }
        return query.hasPrefix(endpoint.query ?? "") ? nil : "a query of the endpoint's own that is lost"
    }

    /// Checks the reading of `WWW-Authenticate`.
    ///
    /// Each line of the input is one field.
    package static func violation(challenge bytes: [UInt8]) -> String? {
        let fields = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard let challenge = BearerChallenge(in: fields) else { return nil }
        // Byte for byte: a mark that combines with its last letter makes another word of it to people only.
        let text = fields.joined().utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        guard text.contains("bearer".utf8) else { return "a challenge of another scheme" }
        guard !challenge.scope.contains(where: { $0.isEmpty || $0.contains(" ") }) else {
            return "a scope token with a space"
        }
        // An escaped quote may stand inside a code that was pieced together; the parameter's name may not.
        return challenge.error == nil || text.contains("error".utf8) ? nil : "an error that nobody sent"
    }
}
