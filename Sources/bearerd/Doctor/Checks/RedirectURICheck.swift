// SPDX-License-Identifier: Apache-2.0

import Configuration
import HTTPMessages
import OAuth

/// `redirect-uri`: whether a login's answer can be heard, and what the provider must know for that.
enum RedirectURICheck: IdentityCheck {
    static let id = CheckID.redirectURI

    static func look(at identity: ExaminedIdentity, of patient: Patient) -> Finding {
        let grant = identity.client.grantType
        guard grant == .authorizationCode else { return .skip("\(grant.shortName) has none") }
        let uri = identity.configuration.redirectURI
        let advice = "register \(uri.registered) at the provider"
        let address = identity.configuration.redirectListen ?? .tcp(host: uri.host, port: uri.port)
        switch PortProbe.look(at: address) {
        case .free: return .ok("\(address) is free; \(advice)")
        case .unknown: return .ok(uri.port == 0 ? "\(advice), with any port" : advice)
        case .taken:
            return .fail(
                "another program listens at \(address)",
                fix: "stop it, or give \(identity.key("redirect_uri")) another port and register that")
        case .unusable(let reason): return .fail("\(address): \(reason)", fix: identity.key("redirect_uri"))
        }
    }
}
