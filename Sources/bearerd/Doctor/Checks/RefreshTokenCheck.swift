// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// `refresh-token`: the session has a refresh token.
enum RefreshTokenCheck: IdentityCheck {
    static let id = CheckID.refreshToken
    static let needs = [CheckID.store, .keyring]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        let grant = identity.client.grantType
        guard grant.needsPerson else { return .skip("\(grant.shortName) needs none") }
        let session: ExaminedSession?
        do throws(CommandFailure) {
            session = try await ExaminedSession(of: identity, subject)
        } catch {
            return .fail(error.message, fix: "store")
        }
        guard let session, let hasRefreshToken = session.hasRefreshToken else {
            return .skip("only the daemon sees the session")
        }
        guard !hasRefreshToken else {
            if let refusal = session.refusal {
                return .fail(
                    "there, but the provider refuses it (\(refusal))", fix: "bearerd login \(identity.name)")
            }
            return .ok(
                "there, \(session.scope.contains("offline_access") ? "with" : "without") offline_access")
        }
        guard session.expiresAt != nil else {
            if subject.known(of: identity)?.state == .authorized {
                return .skip("the daemon has the session, of which the store has nothing yet")
            }
            return .fail("nobody has logged in", fix: "bearerd login \(identity.name)")
        }
        return .warn(
            "there is none: the session ends with its access token",
            fix:
                "\(identity.key("scope")): offline_access (Google: authorization_params: {access_type: offline})"
        )
    }
}
