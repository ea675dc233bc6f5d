// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// `client-auth`: the provider accepts the client's authentication.
enum ClientAuthenticationCheck: IdentityCheck {
    static let id = CheckID.clientAuth
    static let needs = [CheckID.discovery]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        let method = identity.client.authentication
        let untried = subject.isLive ? subject.reasonNotToAsk(for: identity) : nil
        let outcome = untried != nil ? nil : subject.liveOutcome(of: identity)
        if case .failure(let failure)? = outcome, identity.isDisbelieved(by: failure) {
            return .fail(failure.message, fix: identity.mend(of: failure))
        }
        if case .success? = outcome { return .ok("\(method.rawValue) was accepted") }
        let rest =
            if let untried {
                "not tried: \(untried)"
            } else if identity.client.exchangesCallersTokens {
                "only a caller's request tries it"
            } else {
                outcome == nil ? "with --live it is tried" : "the token request failed for another reason"
            }
        guard let metadata = await identity.document() else {
            return .skip("\(method.rawValue): the endpoints are given by hand; \(rest)")
        }
        // RFC 8414 2: what is offered where nothing is said.
        let offered =
            metadata.words("token_endpoint_auth_methods_supported") ?? [ClientAuthentication.basic.rawValue]
        guard offered.contains(method.rawValue) || method == .none else {
            return .fail(
                "\(method.rawValue) is not among \(offered.joined(separator: ", "))",
                fix: identity.key("token_endpoint_auth_method"))
        }
        let seen = "\(method.rawValue) is offered; \(rest)"
        return untried != nil ? .skip(seen) : .ok(seen)
    }
}
