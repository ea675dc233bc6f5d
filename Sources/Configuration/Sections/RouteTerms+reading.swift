// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting
internal import BearerdYAML
internal import OAuth

extension RouteTerms {
    init(
        reading section: Section<RouteConfiguration.Key>, hasIdentity: Bool,
        timeouts general: UpstreamTimeouts
    ) {
        self.init()
        stripsPrefix = section.value(.stripPrefix, .flag, default: false)
        rules = section.has(.allow) ? RequestRules(reading: section) : nil
        authorization = section.value(.authorization, .word, default: authorization)
        credentials = RequestAuthorization.Field(name: section.header, scheme: section.scheme)
        tokenQuery = section.tokenQuery(hasIdentity: hasIdentity)
        onNoToken = section.value(.onNoToken, .word, default: onNoToken)

        hostField = section.value(.hostHeader, .hostField, default: hostField)
        let tokenHeader = tokenQuery == nil ? credentials.name : nil
        requestEdits = FieldEdits(reading: section.section(.requestHeaders)) { name, key in
            if FieldEdits.framing.contains(name) { return "is bearerd's own to write" }
            if name == .host { return "is set by host_header" }
            if name == .dpop, hasIdentity, key != .remove {
                return "carries the proof of a token's key (dpop), which is made anew for each request"
            }
            return name == tokenHeader && hasIdentity ? "carries the token" : nil
        }
        responseEdits = FieldEdits(reading: section.section(.responseHeaders)) { name, _ in
            FieldEdits.framing.contains(name) ? "is bearerd's own to write" : nil
        }
        forwarded = section.value(
            .forwarded, .flag(on: .replace, off: .none, or: "append", .append), default: forwarded)
        via = section.value(.via, .flag, default: via)
        upgrade = section.upgrade ?? upgrade
        if let statuses = section.list(.retryOnStatus, .integer(in: 300...599)) {
            retryOnStatus = Set(statuses.map(\.value))
        }
        replayBuffer = section.value(.replayBuffer, .size(in: 0...64 << 20), default: replayBuffer)
        timeouts = UpstreamTimeouts(ofRoute: section.section(.timeouts), otherwise: general)
    }
}

extension Section<RouteConfiguration.Key> {
    fileprivate var header: HTTPFields.Name {
        let header = value(.header, .fieldName, default: .authorization)
        if FieldEdits.framing.contains(header) || header == .host || header == .dpop {
            error(.header, "cannot carry a token")
        }
        return header
    }

    /// The parameter of the target that the token goes into; nil for a header.
    fileprivate func tokenQuery(hasIdentity: Bool) -> QueryParameter? {
        guard let name = value(.query, .text) else { return nil }
        if !hasIdentity, !isInDoubt(.identity) {
            reading.error("means nothing to a route without an identity", at: name.place)
        }
        for key in [RouteConfiguration.Key.header, .scheme] where has(key) {
            error(key, "is for a token in a header, and query puts it into the target: remove one of the two")
        }
        if has(.authorization), value(.authorization, .text)?.value != "overwrite" {
            error(
                .authorization,
                "is for a token in a header; with query the client's own parameter always goes")
        }
        return QueryParameter(name.value)
    }

    /// The scheme before the token; `none` or an empty one means the token alone.
    fileprivate var scheme: String {
        guard let scheme = value(.scheme, .textThatMayBeEmpty) else { return "Bearer" }
        if !scheme.value.isEmpty, HTTPFields.Name(scheme.value) == nil {
            reading.error("is not a single word", at: scheme.place)
        }
        return scheme.value == "none" ? "" : scheme.value
    }

    /// The protocols to upgrade to; nil if the file does not say.
    fileprivate var upgrade: Set<String>? {
        guard let protocols = oneOrMany(.upgrade, .upgradeProtocol) else { return nil }
        for name in protocols where name.value.lowercased() == "h2c" {
            reading.warn("h2c is never passed on", at: name.place)
        }
        return Set(protocols.map { $0.value.lowercased() })
    }
}

extension ValueKind<RouteTerms.HostField> {
    /// `upstream`, `preserve`, or the text itself.
    fileprivate static var hostField: ValueKind {
        ValueKind { scalar throws(ValueError) in
            switch scalar.text {
            case "upstream": return .upstream
            case "preserve": return .preserve
            default:
                guard HostPattern(scalar.text) != nil
                else { throw ValueError("'\(scalar.written)' is neither upstream, preserve, nor a host") }
                return .value(scalar.text)
            }
        }
    }
}
