// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import BearerdEventLoop
package import BearerdHTTPMessages

/// Decides who may use the listeners (`access` in the configuration); it is applied before anything else.
package struct AccessPolicy: Sendable {
    /// The origins whose pages may call, as browsers send them in `Origin`.
    package var origins: Set<String>
    /// The users that may connect to a Unix socket.
    package var peerUsers: Set<UInt32>
    /// The keys, one of which `X-Bearerd-Key` must hold; none if nothing is needed.
    package var keys: [CurrentSecret]
    /// The clients that may use TLS listeners; nil for every client of the authority.
    package var clientNames: CertificateNameRules?

    package init(
        origins: Set<String> = [], peerUsers: Set<UInt32> = [], keys: [CurrentSecret] = [],
        clientNames: CertificateNameRules? = nil
    ) {
        self.origins = origins
        self.peerUsers = peerUsers
        self.keys = keys
        self.clientNames = clientNames
    }

    /// Returns true if a new connection from `peer` may be used at all.
    @inline(__always)
    func admits(_ peer: PeerAddress) -> Bool {
        switch peer {
        case .ip: true
        case .unix(let user, _): peerUsers.contains(user)
        case .unknown: false
        }
    }

    /// Returns true if a head holds anything to judge; most requests come from no browser and need no key.
    @inline(__always) func isAskedBy(_ present: FieldPresence) -> Bool {
        !keys.isEmpty || present.has(.origin) || present.has(.secFetchSite)
    }

    /// Judges the browser's fields about the calling page, then the key.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of the listener.
    ///   - judgesReferer: true if a `Referer` counts where a browser sends neither `Origin` nor
    ///     `Sec-Fetch-Site`.
    func judge(
        _ fields: HTTPFields, scheme: HTTPURL.Scheme = .http, judgesReferer: Bool = false
    ) -> ProxyError.Denial? {
        if let denial = judgeOrigin(fields, scheme, judgesReferer: judgesReferer) { return denial }
        guard !keys.isEmpty else { return nil }
        guard fields.count(of: .bearerdKey) == 1, let given = fields.bytes(of: .bearerdKey),
            isKey(Array(given))
        else { return .key }
        return nil
    }

    /// Returns true if the bytes are one of the keys; compares with each, so that the time does not tell which.
    private func isKey(_ given: [UInt8]) -> Bool {
        keys.reduce(false) { isKnown, key in
            let isThis = key.matches(given)
            return isThis || isKnown
        }
    }

    /// Returns true if the request comes from a page of `access.origins`.
    func admitsOrigin(of fields: HTTPFields) -> Bool {
        guard !origins.isEmpty, let origin = fields[.origin], fields.count(of: .origin) == 1 else {
            return false
        }
        return origins.contains(origin)
    }

    /// Judges `Origin`, or else `Sec-Fetch-Site`.
    ///
    /// A browser sends each of them once. A repeated `Origin` is refused, so that its sender cannot choose
    /// which one is judged.
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

    /// The origin of the page in a `Referer` (RFC 9110 §10.1.3), spelled as browsers spell origins.
    ///
    /// - Returns: nil for a value without an origin, such as a relative reference or `about:blank`.
    static func origin(ofReferer referer: String) -> String? {
        let parts = referer.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let origin = "\(parts[0])://\(parts[1].prefix { !"/?#".contains($0) })".lowercased()
        return HTTPURL(origin)?.origin ?? origin
    }

    /// Returns true if `origin` is this listener's own, so that one of its own pages makes the call.
    private func isOwn(_ origin: String, _ scheme: HTTPURL.Scheme, host: String?) -> Bool {
        guard let host else { return false }
        let own = "\(scheme.rawValue)://\(host.lowercased())"
        // A Host may name the default port, which no origin has (RFC 6454 §6.2).
        return [own, HTTPURL(own)?.origin].contains(origin.lowercased())
    }
}
