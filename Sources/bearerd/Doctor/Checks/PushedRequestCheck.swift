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
        if metadata.document["require_pushed_authorization_requests"]?.bool == true,
            client.pushedRequests == .never, client.grantType == .authorizationCode
        {
            return .fail(
                "the provider takes pushed authorization requests alone", fix: "\(identity.key("par")): auto")
        }
        if client.pushedRequests == .always, client.grantType == .authorizationCode,
            metadata.endpoints[.pushedAuthorizationRequest] == nil,
            client.endpoints[.pushedAuthorizationRequest] == nil
        {
            return .fail(
                "the provider has no endpoint for pushed authorization requests",
                fix:
                    "\(identity.key("pushed_authorization_request_endpoint")), or \(identity.key("par")): auto"
            )
        }
        if client.proofs == .always, metadata.words("dpop_signing_alg_values_supported") == nil {
            return .warn(
                "the provider does not say that it binds tokens to keys", fix: "\(identity.key("dpop")): auto"
            )
        }
        let offers = [
            metadata.endpoints[.pushedAuthorizationRequest].map { _ in "PAR" },
            metadata.words("dpop_signing_alg_values_supported").map { _ in "DPoP" },
        ].compactMap(\.self)
        return .ok(
            offers.isEmpty ? "neither is demanded or offered" : "offered: \(offers.joined(separator: ", "))")
    }
}

extension ServiceConfiguration {
    /// The words of a list in the metadata; nil if it is missing or not a list.
    func words(_ member: String) -> [String]? { document[member]?.array?.compactMap(\.string) }
}
