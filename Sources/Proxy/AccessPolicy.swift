// SPDX-License-Identifier: Apache-2.0

package import Crypto
internal import EventLoop
package import HTTPTypes

/// Who may use a listener (the configuration's `access`): judged before anything else is looked at.
package struct AccessPolicy: Sendable {
    /// Allowed `Host`s.
    package var hosts: HostList
    /// Allowed `Origin`s.
    package var origins: Set<String>
    /// Users that may connect to a Unix socket.
    package var peerUsers: Set<UInt32>
    /// What `X-Bearerd-Key` must hold, if anything.
    package var key: CurrentSecret?

    package init(
        hosts: HostList, origins: Set<String> = [], peerUsers: Set<UInt32> = [],
        key: CurrentSecret? = nil
    ) {
        self.hosts = hosts
        self.origins = origins
        self.peerUsers = peerUsers
        self.key = key
    }

    /// Whether the peer of a new connection may use it at all.
    func admits(_ peer: PeerAddress) -> Bool {
        switch peer {
        case .ip: true
        case .unix(let user, _): peerUsers.contains(user)
        case .unknown: false
        }
    }

    /// Whether there is anything in `fields` to judge: most requests come from no browser, and need no key.
    @inline(__always) func isAskedBy(_ fields: HTTPFields) -> Bool {
        key != nil || fields.has(.origin) || fields.has(.secFetchSite)
    }

    /// Judges the browser's word on where the request comes from, then the key.
    ///
    /// - Parameter scheme: of the listener.
    func judge(_ fields: HTTPFields, scheme: HTTPURL.Scheme = .http) -> ProxyError.Denial? {
        if let denial = judgeOrigin(fields, scheme) { return denial }
        guard let key else { return nil }
        guard fields.count(of: .bearerdKey) == 1, let given = fields.bytes(of: .bearerdKey),
            key.matches(Array(given))
        else { return .key }
        return nil
    }

    /// Whether these are the fields of a request from a page of `access.origins`.
    func admitsOrigin(of fields: HTTPFields) -> Bool {
        guard !origins.isEmpty, let origin = fields[.origin], fields.count(of: .origin) == 1 else {
            return false
        }
        return origins.contains(origin)
    }

    /// A browser sends each of the two fields once: whoever repeats one does not get to choose which is judged.
    private func judgeOrigin(_ fields: HTTPFields, _ scheme: HTTPURL.Scheme) -> ProxyError.Denial? {
        if let origin = fields[.origin] {
            guard fields.count(of: .origin) == 1 else { return .origin }
            return origins.contains(origin) || isOwn(origin, scheme, host: fields[.host]) ? nil : .origin
        }
        guard fields.has(.secFetchSite) else { return nil }
        return fields.containsToken("cross-site", in: .secFetchSite)
            || fields.containsToken("same-site", in: .secFetchSite) ? .origin : nil
    }

    /// Whether a page that this listener itself served makes the call.
    private func isOwn(_ origin: String, _ scheme: HTTPURL.Scheme, host: String?) -> Bool {
        guard let host else { return false }
        return origin.lowercased() == "\(scheme.rawValue)://\(host.lowercased())"
    }
}
