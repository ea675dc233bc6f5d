// SPDX-License-Identifier: Apache-2.0

import Configuration
import OAuth

/// `client-auth`: whether the provider takes what the client proves itself with.
enum ClientAuthenticationCheck: IdentityCheck {
    static let id = CheckID.clientAuth
    static let needs = [CheckID.discovery]

    static func look(at identity: ExaminedIdentity, of patient: Patient) async -> Finding {
        let method = identity.client.authentication
        let outcome = patient.liveOutcome(of: identity)
        if case .failure(let failure)? = outcome, failure.status == .configuration {
            return .fail(failure.message, fix: identity.key("client_secret"))
        }
        if case .success? = outcome { return .ok("\(method.rawValue) was accepted") }
        guard let metadata = await identity.document() else {
            return .skip("the endpoints are given by hand; with --live \(method.rawValue) is tried")
        }
        // RFC 8414 2: what is offered where nothing is said.
        let offered =
            metadata.words("token_endpoint_auth_methods_supported") ?? [ClientAuthentication.basic.rawValue]
        guard offered.contains(method.rawValue) || method == .none else {
            return .fail(
                "\(method.rawValue) is not among \(offered.joined(separator: ", "))",
                fix: identity.key("token_endpoint_auth_method"))
        }
        return .ok("\(method.rawValue) is offered; with --live it is tried")
    }
}
