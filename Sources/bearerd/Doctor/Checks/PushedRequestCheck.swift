// SPDX-License-Identifier: Apache-2.0

import Configuration
import JSON
import OAuth

/// `par-dpop`: whether the provider demands what this version cannot do, or offers it (RFC 9126, RFC 9449).
enum PushedRequestCheck: IdentityCheck {
    static let id = CheckID.parDPoP
    static let needs = [CheckID.discovery]

    static func look(at identity: ExaminedIdentity, of patient: Patient) async -> Finding {
        guard let metadata = await identity.document() else {
            return .skip("the endpoints are given by hand")
        }
        guard metadata.document["require_pushed_authorization_requests"]?.bool != true else {
            return .fail(
                "the provider takes pushed authorization requests alone, which this version does not send",
                fix: "have the provider allow this client others, or \(identity.key("grant_type"))")
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
    /// A member that is a list of words; nil where it is missing, or something else.
    func words(_ member: String) -> [String]? { document[member]?.array?.compactMap(\.string) }
}
