// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdSystem
import OAuth

/// The addresses for logins in a browser through the admin listener.
extension Configuration {
    /// The redirect URIs of such logins, keyed by the identity.
    ///
    /// - Parameter address: the address of the admin listener.
    func loginRedirects(to address: ListenAddress) -> [String: RedirectURI] {
        let pairs = identities.compactMap { identity in
            identity.loginRedirect(to: address).map { (identity.name, $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The address that a person opens in a browser to log in; nil if only the command can log in.
    ///
    /// - Parameters:
    ///   - name: the identity's name.
    ///   - address: the address of the admin listener.
    func loginURL(of name: String?, at address: ListenAddress?) -> String? {
        guard let identity = name.flatMap(identity(named:)), let address,
            let redirect = identity.loginRedirect(to: address)
        else { return nil }
        let path = AdminResource.login(identity: identity.name).path
        guard redirect.isLoopback, case .tcp(_, let port) = address else {
            return "\(redirect.scheme.rawValue)://\(redirect.hosts(port: redirect.port)[0])\(path)"
        }
        // The port of a loopback redirect may be the one that the command uses.
        return "http://\(redirect.host.contains(":") ? "[\(redirect.host)]" : redirect.host):\(port)\(path)"
    }
}

extension Configuration {
    /// The page to log in at where an identity's redirects arrive at the admin listener, at which no command can listen beside the
    /// daemon; nil where they do not.
    func loginPage(receiving identity: IdentityConfiguration) -> String? {
        guard let admin, identity.redirects(arriveAt: admin.listen) else { return nil }
        return loginURL(of: identity.name, at: admin.listen)
    }

    /// The advice for a command that cannot listen for an identity's redirect, because the daemon does; nil where it does not.
    func adviceOnDaemonsLogin(of identity: IdentityConfiguration) -> String? {
        if let page = loginPage(receiving: identity) {
            return
                "redirect_uri is at admin.listen, where a running daemon takes the answer: log in at \(page)"
        }
        // Where programs send their requests no login is ever waited for.
        guard !listen.contains(where: identity.redirects(arriveAt:)), let admin,
            let page = loginURL(of: identity.name, at: admin.listen),
            let daemon = PortHolder.of(admin.listen)?.process,
            PortHolder.of(identity.redirectAddress)?.process == daemon
        else { return nil }
        return
            "the daemon waits there, ten minutes at most, for a login that began in a browser: finish that one, or log in at "
            + page
    }
}

extension PortHolder {
    /// Looks for the listener of a port; nil for other addresses, too.
    fileprivate static func of(_ address: ListenAddress) -> PortHolder? {
        guard case .tcp(let host, let port) = address, port != 0 else { return nil }
        return of(host: host == "localhost" ? "127.0.0.1" : host, port: port)
    }
}

extension IdentityConfiguration {
    /// The redirect URI for logins through the admin listener.
    ///
    /// The configured one if its port is fixed, else the listener's own address on loopback.
    func loginRedirect(to address: ListenAddress) -> RedirectURI? {
        guard client.grantType == .authorizationCode else { return nil }
        guard redirectURI.port == 0 else { return redirectURI }
        guard case .tcp(let host, let port) = address, port != 0 else { return nil }
        return RedirectURI("http://\(["::1", "::"].contains(host) ? "[::1]" : "127.0.0.1"):\(port)/callback")
    }
}

extension RedirectURI {
    /// The values of `Host` with which browsers follow the redirect.
    var ownHosts: [String] { hosts(port: port) }
}
