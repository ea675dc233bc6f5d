// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import OAuth

/// Where browsers log in by way of the admin listener.
extension Configuration {
    /// Where the provider sends a browser back to that logs in there, by identity.
    ///
    /// - Parameter address: of the admin listener.
    func loginRedirects(to address: ListenAddress) -> [String: RedirectURI] {
        let pairs = identities.compactMap { identity in
            identity.loginRedirect(to: address).map { (identity.name, $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// What a person opens in a browser to log in; nil where only a command does.
    ///
    /// - Parameters:
    ///   - name: of the identity.
    ///   - address: of the admin listener.
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

extension IdentityConfiguration {
    /// Where the provider sends a browser back to that logs in on the admin listener: the redirect URI if its port is
    /// fixed, else the listener itself, on loopback.
    func loginRedirect(to address: ListenAddress) -> RedirectURI? {
        guard client.grantType == .authorizationCode else { return nil }
        guard redirectURI.port == 0 else { return redirectURI }
        guard case .tcp(let host, let port) = address, port != 0 else { return nil }
        return RedirectURI("http://\(host == "::1" ? "[::1]" : "127.0.0.1"):\(port)/callback")
    }
}

extension RedirectURI {
    /// What browsers send as `Host` that follow it.
    var ownHosts: [String] { hosts(port: port) }
}
