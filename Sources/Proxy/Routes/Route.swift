// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import OAuth

/// Which requests go to one upstream, as whom, and what is changed on the way.
package struct Route: Sendable {
    /// What happens to an `Authorization` field of the client's own.
    package enum AuthorizationPolicy: Sendable {
        case overwrite
        /// The token is put in only where the client sent none.
        case preserve
        case reject
    }

    /// What the upstream sees as `Host`.
    package enum HostField: Sendable {
        case upstream
        case preserve
        case value(String)
    }

    /// How much of `X-Forwarded-*` is told.
    package enum ForwardedPolicy: Sendable {
        case none
        /// What the client claims is replaced.
        case replace
        /// `-For` is extended; `-Proto` and `-Host` are left where present.
        case append
    }

    /// What happens when no token can be had.
    package enum TokenlessPolicy: Sendable {
        case fail
        /// The request is forwarded without one.
        case pass
    }

    /// How long this route waits; zero turns one off.
    package struct Timeouts: Sendable {
        package var connect: Duration = .seconds(5)
        package var firstByte: Duration = .seconds(60)
        package var streamIdle: Duration = .seconds(300)
        package var tokenWait: Duration = .seconds(10)

        package init() {}
    }

    /// The path as configured; names the route in logs and metrics.
    package var path: String
    /// `host` or `host:port`, lower case; `nil` for any.
    package var host: String?
    /// The one listener it belongs to; `nil` for all.
    package var listener: ListenerKey?
    /// `nil` for any.
    package var methods: Set<HTTPMethod>?
    package var upstream: SharedUpstream
    /// The upstream's own path, without a slash at its end; put before the request's.
    package var upstreamPrefix: String
    /// The upstream's authority, as sent in `Host`.
    package var upstreamAuthority: String
    /// The upstream's scheme and authority, in lower case and without the scheme's own port, as we call it and as we
    /// tell it in `Host`: to recognise a `Location` of its own.
    package var upstreamOrigins: [String]
    package var stripPrefix = false
    /// What may be asked for; `nil` for everything.
    package var rules: RequestRules?
    package var session: AuthSession?
    package var authorization = AuthorizationPolicy.overwrite
    /// How the token is written.
    package var credentials = RequestAuthorization.Field()
    package var hostField = HostField.upstream
    package var requestEdits = FieldEdits()
    package var responseEdits = FieldEdits()
    package var forwarded = ForwardedPolicy.none
    package var via = true
    /// Protocols that a client may upgrade to, lower case.
    package var upgrade: [String] = ["websocket"]
    package var retryOnStatus: Set<Int> = [401]
    /// Bytes of a request body that are kept for a replay.
    package var replayBuffer = 64 * 1024
    package var onNoToken = TokenlessPolicy.fail
    package var timeouts = Timeouts()

    package init(
        path: String, upstream: SharedUpstream, upstreamAuthority: String, upstreamPrefix: String = "",
        upstreamOrigins: [String] = []
    ) {
        self.path = path
        self.upstream = upstream
        self.upstreamAuthority = upstreamAuthority
        self.upstreamPrefix = upstreamPrefix
        self.upstreamOrigins = upstreamOrigins
    }

    /// How many bytes of the target `strip_prefix` drops.
    var strippedCount: Int {
        guard stripPrefix else { return 0 }
        return path.utf8.last == UInt8(ascii: "/") ? path.utf8.count - 1 : path.utf8.count
    }

    /// Whether the target is forwarded as it came.
    var keepsTarget: Bool { upstreamPrefix.isEmpty && strippedCount == 0 }

    /// Those members of `Upgrade` that may pass, nil for none.
    func passableProtocols(in fields: HTTPFields) -> String? {
        let passed = fields.listMembers(of: .upgrade).filter { member in
            let name = member.lowercased()
            return name != "h2c" && upgrade.contains(name)
        }
        return passed.isEmpty ? nil : passed.joined(separator: ", ")
    }
}
