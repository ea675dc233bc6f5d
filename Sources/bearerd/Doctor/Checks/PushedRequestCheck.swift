// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdJSON
import OAuth

/// `par-dpop`: the provider and the configuration agree on PAR and DPoP (RFC 9126, RFC 9449).
enum PushedRequestCheck: IdentityCheck {
    static let id = CheckID.parDPoP
    static let needs = [CheckID.discovery]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        guard let metadata = await identity.document() else {
            return .skip("the endpoints are given by hand")
        }
        let client = identity.client
        let requiresPAR = metadata.document["require_pushed_authorization_requests"]?.bool == true
        if requiresPAR, client.pushedRequests == .never, client.grantType == .authorizationCode {
            return .fail(
                "the provider takes pushed authorization requests alone", fix: "\(identity.key("par")): auto")
        }
        if requiresPAR || client.pushedRequests == .always, client.grantType == .authorizationCode,
            metadata.endpoints[.pushedAuthorizationRequest] == nil,
            client.endpoints[.pushedAuthorizationRequest] == nil
        {
            let endpoint = identity.key("pushed_authorization_request_endpoint")
            return requiresPAR
                ? .fail(
                    "the provider takes pushed authorization requests alone, and names no endpoint for them",
                    fix: endpoint)
                : .fail(
                    "the provider has no endpoint for pushed authorization requests",
                    fix: "\(endpoint), or \(identity.key("par")): auto")
        }
        if client.proofs == .always, metadata.words("dpop_signing_alg_values_supported") == nil {
            return .warn(
                "the provider does not say that it binds tokens to keys", fix: "\(identity.key("dpop")): auto"
            )
        }
        let offersPAR = !requiresPAR && metadata.endpoints[.pushedAuthorizationRequest] != nil
        let offers = [
            offersPAR ? "PAR" : nil, metadata.words("dpop_signing_alg_values_supported").map { _ in "DPoP" },
        ].compactMap(\.self)
        let words = [
            requiresPAR ? "required: PAR" : nil,
            offers.isEmpty ? nil : "offered: \(offers.joined(separator: ", "))",
        ].compactMap(\.self)
        return .ok(words.isEmpty ? "neither is required or offered" : words.joined(separator: "; "))
    }
}

extension ServiceConfiguration {
    /// The words of a list in the metadata; nil if it is missing or not a list.
    func words(_ member: String) -> [String]? { document[member]?.array?.compactMap(\.string) }
}
