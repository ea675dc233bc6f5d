// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth

/// The provider's state and its answers.
struct ProviderCore {
    var settings: ProviderSettings
    let key: SigningKey
    let publicKeys: JSONWebKeySet

    var pending = ExpiringTable<PendingAuthorization>()
    /// Pushed requests that no browser has used yet.
    var pushed = ExpiringTable<PendingAuthorization>()
    var codes = ExpiringTable<CodeGrant>()
    var refreshTokens = ExpiringTable<RefreshGrant>()
    var sessions = ExpiringTable<BrowserSession>()
    var devices = ExpiringTable<DeviceGrant>()
    /// Logins and single access tokens (`jti`) that were revoked.
    var revoked = ExpiringTable<Void>()
    var proofs = ProofVerifier()

    init(_ settings: ProviderSettings, key: SigningKey) {
        self.settings = settings
        self.key = key
        publicKeys = JSONWebKeySet(keys: [key.publicJWK.flatMap(JSONWebKey.init)].compactMap { $0 })
    }

    /// The meaning of a request.
    enum Purpose {
        case endpoint(ProviderEndpoint)
        /// There is no such endpoint or method; the reply says so.
        case nothing(ServiceReply)
    }

    /// Finds the endpoint of a request from its head.
    static func purpose(of request: ServiceRequest) -> Purpose {
        guard isAddressedToUs(request) else { return .nothing(.plain(status: 421)) }
        guard let endpoint = ProviderEndpoint(rawValue: request.path) else {
            return .nothing(.plain(status: 404))
        }
        let method: HTTPMethod = request.head.method == .head ? .get : request.head.method
        guard endpoint.methods.contains(method) else {
            var reply = ServiceReply.plain(status: 405)
            reply.head.fields[.allow] = endpoint.methods.map(\.rawValue).joined(separator: ", ")
            return .nothing(reply)
        }
        return .endpoint(endpoint)
    }

    /// Answers one request.
    mutating func answer(
        _ request: ServiceRequest, at endpoint: ProviderEndpoint, _ now: WallTime
    ) -> ServiceReply {
        do throws(ProviderError) {
            return switch endpoint {
            case .index: indexPage()
            case .openIDConfiguration, .serverMetadata: .json(metadata)
            case .jwks: .json([Member.keys.rawValue: .array(key.publicJWK.map { [.object($0)] } ?? [])])
            case .token: try token(request, at: now)
            case .pushedAuthorizationRequest: try push(request, at: now)
            case .authorize: try authorize(request, at: now)
            case .login: try login(request, at: now)
            case .userinfo: userinfo(request, at: now)
            case .revoke: try revoke(request, at: now)
            case .endSession: try endSession(request, at: now)
            case .deviceAuthorization: try authorizeDevice(request, at: now)
            case .device: try device(request, at: now)
            }
        } catch {
            return .refusal(error)
        }
    }

    /// Returns true if `Host` names this machine, so that a page elsewhere cannot use the login by DNS
    /// rebinding.
    private static func isAddressedToUs(_ request: ServiceRequest) -> Bool {
        guard let host = request.head.fields[.host] else { return request.head.version == .http10 }
        return HTTPURL("http://\(host)/")?.isLoopback == true
    }

    private func indexPage() -> ServiceReply {
        let page = SmallPage(
            title: "Development identity provider",
            content: """
                <p>Issuer <code>\(settings.issuer)</code>. For trying and for tests only.</p>
                <p><a href="\(ProviderEndpoint.openIDConfiguration.rawValue)">Discovery document</a></p>
                """)
        return .page(page)
    }
}
