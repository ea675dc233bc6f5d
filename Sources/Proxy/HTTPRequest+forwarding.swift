// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPMessages
internal import BearerdRouting

extension HTTPRequest {
    private static let via = PreparedField(.via, known: "\(HTTPVersion.http11.number) bearerd")
    /// The `Via` fields for the versions that few clients use.
    private static let rareVias = HTTPVersion.allCases.map { version in
        (version, PreparedField(.via, known: "\(version.number) bearerd"))
    }

    /// The `Via` field for the version in which this request was received (RFC 9110 §7.6.3).
    private var ownVia: PreparedField {
        version == .http11 ? Self.via : Self.rareVias.first { $0.0 == version }?.1 ?? Self.via
    }

    /// Rewrites the client's head for the upstream, except for the token and the fields of the upstream
    /// connection.
    ///
    /// - Parameters:
    ///   - host: the `Host` as received; empty without one.
    ///   - scheme: the scheme that the client used.
    mutating func rewrite(
        for plan: PreparedRoute, host: [UInt8], peer: @autoclosure () -> PeerAddress, scheme: HTTPURL.Scheme
    ) throws(ProxyError) {
        guard viaCount < 5 else { throw .loopDetected }
        fields.removeHopByHop()
        if fields.has(.bearerdKey) { fields.remove(.bearerdKey) }
        if fields.has(.cookie) { fields.removeOwnCookies() }
        // Names that are known have none: only others cost a call.
        if fields.has(.other) {
            fields.removeLookalikes(of: plan.reservedNames)
            if let names = plan.overrideFields { fields.removeAll(of: names) }
        }
        if version == .http10 { fields.remove(.expect) }  // RFC 9110 10.1.1
        setHost(for: plan)
        // Member by member: a copy of all terms would count references to each.
        if plan.terms.forwarded != .none { tell(plan.terms.forwarded, host: host, peer: peer(), scheme) }
        if plan.terms.via { fields.append(ownVia) }
        if let edits = plan.requestEdits { edits.apply(to: &fields) }
        if let query = plan.terms.tokenQuery { query.remove(from: &targetBytes) }
        if !plan.keepsTarget, targetBytes != [UInt8(ascii: "*")] {
            setTarget(prefix: plan.upstreamPrefix, droppingFirst: plan.stripped.count(in: targetBytes.span))
        }
    }

    /// Decrements `Max-Forwards` of an OPTIONS (RFC 9110 §7.6.2).
    ///
    /// - Returns: false if the request must not be forwarded.
    mutating func countForward() -> Bool {
        guard method == .options, let count = fields[.maxForwards].flatMap({ UInt32($0) }) else {
            return true
        }
        guard count > 0 else { return false }
        fields[.maxForwards] = String(count - 1)
        return true
    }

    /// The number of times that this request has passed a bearerd, according to `Via` (RFC 9110 §7.6.3).
    private var viaCount: Int {
        guard fields.has(.via) else { return 0 }
        return fields.viaCount(of: "bearerd")
    }

    private mutating func setHost(for plan: PreparedRoute) {
        switch plan.terms.hostField {
        case .upstream: fields.replace(.host, with: plan.host)
        case .preserve: if !fields.has(.host) { fields.append(plan.host) }
        case .value(let value): fields[.host] = value
        }
    }

    private mutating func tell(
        _ policy: RouteTerms.ForwardedPolicy, host: [UInt8], peer: PeerAddress, _ scheme: HTTPURL.Scheme
    ) {
        let host = host.isEmpty ? nil : String(decoding: host, as: UTF8.self)
        switch policy {
        case .none:
            return
        case .replace:
            fields[.xForwardedFor] = peer.text
            fields[.xForwardedProto] = scheme.rawValue
            fields[.xForwardedHost] = host
        case .append:
            let before = fields.values(of: .xForwardedFor)
            fields[.xForwardedFor] = (before + [peer.text]).joined(separator: ", ")
            if !fields.has(.xForwardedProto) { fields[.xForwardedProto] = scheme.rawValue }
            if !fields.has(.xForwardedHost) { fields[.xForwardedHost] = host }
        }
    }
}
