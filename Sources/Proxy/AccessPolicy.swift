// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import BearerdEventLoop
internal import BearerdHTTPMessages

/// Who may use the listeners (the configuration's `access`): judged before anything else is looked at.
package struct AccessPolicy: Sendable {
    /// Allowed `Origin`s.
    package var origins: Set<String>
    /// Users that may connect to a Unix socket.
    package var peerUsers: Set<UInt32>
    /// What `X-Bearerd-Key` must hold, if anything.
    package var key: CurrentSecret?

    package init(
        origins: Set<String> = [], peerUsers: Set<UInt32> = [], key: CurrentSecret? = nil
    ) {
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
    /// - Parameters:
    ///   - scheme: of the listener.
    ///   - judgesReferer: whether a `Referer` tells it where nothing else does.
    func judge(
        _ fields: HTTPFields, scheme: HTTPURL.Scheme = .http, judgesReferer: Bool = false
    ) -> ProxyError.Denial? {
        if let denial = judgeOrigin(fields, scheme, judgesReferer: judgesReferer) { return denial }
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
    private func judgeOrigin(
        _ fields: HTTPFields, _ scheme: HTTPURL.Scheme, judgesReferer: Bool
    ) -> ProxyError.Denial? {
        if let origin = fields[.origin] {
            guard fields.count(of: .origin) == 1 else { return .origin }
            return origins.contains(origin) || isOwn(origin, scheme, host: fields[.host]) ? nil : .origin
        }
        if fields.has(.secFetchSite) {
            return fields.containsToken("cross-site", in: .secFetchSite)
                || fields.containsToken("same-site", in: .secFetchSite) ? .site : nil
        }
        guard judgesReferer else { return nil }
        return fields.values(of: .referer).allSatisfy { referer in
            guard let origin = Self.origin(ofReferer: referer) else { return true }
            return origins.contains(origin) || isOwn(origin, scheme, host: fields[.host])
        } ? nil : .referer
    }

    /// The origin of the page that a `Referer` names (RFC 9110 10.1.3), as browsers spell origins.
    ///
    /// - Returns: nil for what names none: a relative reference, `about:blank`.
    static func origin(ofReferer referer: String) -> String? {
        let parts = referer.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let origin = "\(parts[0])://\(parts[1].prefix { !"/?#".contains($0) })".lowercased()
        return HTTPURL(origin)?.origin ?? origin
    }

    /// Whether a page that this listener itself served makes the call.
    private func isOwn(_ origin: String, _ scheme: HTTPURL.Scheme, host: String?) -> Bool {
        guard let host else { return false }
        return origin.lowercased() == "\(scheme.rawValue)://\(host.lowercased())"
    }
}
