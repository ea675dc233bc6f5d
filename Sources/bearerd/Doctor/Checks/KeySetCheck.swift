// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdJSON
import OAuth

/// `jwks`: the provider publishes keys for verifying id tokens.
enum KeySetCheck: IdentityCheck {
    static let id = CheckID.jwks
    static let needs = [CheckID.discovery]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        guard let url = await identity.endpoint(.keys) else {
            guard bringsIDTokens(identity) else { return .skip("the provider names no jwks_uri") }
            let isEncrypted = await identity.endpoint(.token)?.scheme == .https
            return .warn(
                "there is no jwks_uri: signatures of id tokens are not verified, "
                    + (isEncrypted
                        ? "the TLS of the token endpoint vouches for them"
                        : "and over plain http nothing else vouches for them"),
                fix: identity.key("jwks_uri"))
        }
        do throws(TransportError) {
            let response = try await identity.get(url)
            let keys = (try? JSONObject(parsing: response.body))?["keys"]?.array ?? []
            guard response.status == 200, !keys.isEmpty else {
                return fault("\(url) answers \(response.status), with \(keys.count) keys", identity)
            }
            let kinds = Set(keys.compactMap { $0["kty"]?.string }).sorted().joined(separator: ", ")
            return .ok("\(keys.count) \(keys.count == 1 ? "key" : "keys"): \(kinds)")
        } catch {
            return fault("\(url) gives no answer that can be used", identity)
        }
    }

    private static func bringsIDTokens(_ identity: ExaminedIdentity) -> Bool {
        identity.client.grantType.needsPerson || identity.client.scope.contains("openid")
    }

    /// The finding for missing keys; it is a warning if no id tokens are requested.
    private static func fault(_ seen: String, _ identity: ExaminedIdentity) -> Finding {
        let fix = "\(identity.key("jwks_uri")), or the provider"
        return bringsIDTokens(identity) ? .fail(seen, fix: fix) : .warn(seen, fix: fix)
    }
}
