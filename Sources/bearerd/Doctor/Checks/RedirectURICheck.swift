// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem
import OAuth

/// `redirect-uri`: the redirect of a login can be received; the finding says what to register at the
/// provider.
enum RedirectURICheck: IdentityCheck {
    static let id = CheckID.redirectURI

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) -> Finding {
        let grant = identity.client.grantType
        guard grant == .authorizationCode else { return .skip("\(grant.shortName) has none") }
        let uri = identity.configuration.redirectURI
        let page = subject.configuration.admin.flatMap { identity.configuration.loginRedirect(to: $0.listen) }
        let ways = uri.port == 0 ? "" : page.map { _ in ", for logins on the admin listener too" } ?? ""
        let advice = "register \(uri.registered) at the provider\(ways)"
        let address = identity.configuration.redirectListen ?? .tcp(host: uri.host, port: uri.port)
        switch PortProbe.look(at: address) {
        case .free: return .ok("\(address) is free; \(advice)")
        case .unknown where uri.port == 0:
            let also = page.map { ", and \($0.registered) for logins on the admin listener" } ?? ""
            return .ok("\(advice), with any port\(also)")
        case .unknown, .unreachable: return .ok(advice)
        case .taken(let holder):
            if let page = subject.configuration.loginPage(receiving: identity.configuration),
                subject.daemon.status != nil
            {
                return .ok("\(address) is the admin listener's, where one logs in, at \(page); \(advice)")
            }
            guard subject.daemon.status == nil || !subject.configuration.listen.contains(address) else {
                return .fail(
                    "\(address) is listen's own, so nobody can log in while the daemon runs",
                    fix:
                        "\(identity.key("redirect_uri")): another port, or that of admin.listen, which is to be registered"
                )
            }
            return .fail(
                "another program listens at \(address)\(holder.map { ": \($0.words)" } ?? "")",
                fix: "stop it, or give \(identity.key("redirect_uri")) another port and register that")
        case .unusable(let reason): return .fail("\(address): \(reason)", fix: identity.key("redirect_uri"))
        }
    }
}
