// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdHTTPServer
package import OAuth
import Synchronization

/// A small OpenID provider for trials and tests, which keeps everything in memory.
///
/// It implements OpenID Connect Core and RFC 6749 with RFC 7636, 7009, 8414, 8628, 9068, 9126, 9207 and 9449.
/// Answers are computed without waiting, so one lock suffices.
package final class DevelopmentProvider: HTTPResponder {
    private let core: Mutex<ProviderCore>
    private let issuer: String
    private let keys: JSONWebKeySet
    private let wallNow: @Sendable () -> WallTime

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - settings: its clients, users and issuer.
    ///   - key: signs its tokens; nil makes a new RSA key.
    ///   - wallNow: the civil clock.
    /// - Throws: ``JOSEError`` if no key can be made.
    package init(
        _ settings: ProviderSettings, key: SigningKey? = nil, wallNow: @escaping @Sendable () -> WallTime
    ) throws(JOSEError) {
        let key = if let key { key } else { try SigningKey.generateRSA() }
        let core = ProviderCore(settings, key: key)
        issuer = settings.issuer
        keys = core.publicKeys
        self.core = Mutex(core)
        self.wallNow = wallNow
    }

    /// Replaces the known clients; a removed one keeps its tokens but cannot get more.
    package func use(_ clients: [DevelopmentClient]) { core.withLock { $0.settings.clients = clients } }

    package func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        switch ProviderCore.purpose(of: request) {
        case .nothing(let reply): return .refused(reply)
        case .endpoint(let endpoint):
            return .answered(withBody: { [self] body in
                var whole = request
                whole.body = body
                return core.withLock { $0.answer(whole, at: endpoint, wallNow()) }
            })
        }
    }

    /// The data with which an API verifies this provider's tokens.
    package var trust: TrustedIssuer {
        TrustedIssuer(issuer: issuer, keys: { [keys] in keys }) { [weak self] claims in
            guard let self else { return true }
            return core.withLock { $0.isRevoked(claims, at: self.wallNow()) }
        }
    }
}
