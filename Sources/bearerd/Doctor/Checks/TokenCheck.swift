// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdObservability
import BearerdSystem
import OAuth

/// `token`: there is a usable token, whose lifetime exceeds the time for renewing it.
enum TokenCheck: IdentityCheck {
    static let id = CheckID.token
    static let needs = [CheckID.store, .keyring]
    static let echoes = [CheckID.clientAuth, .daemon]

    static func look(at identity: ExaminedIdentity, of subject: DoctorSubject) async -> Finding {
        let client = identity.client
        let fix =
            client.grantType.needsPerson
            ? "bearerd login \(identity.name)"
            : "bearerd doctor \(identity.name) --live, which asks for one and tells why none comes"
        if let reason = subject.reasonNotToAsk(for: identity) { return .skip(reason) }
        if case .failure(let failure)? = subject.liveOutcome(of: identity) {
            return .fail(failure.message, fix: identity.mend(of: failure))
        }
        // A running daemon knows more than what is stored: no request gets a token that the daemon has none of.
        if !subject.hasAsked(identity), let known = subject.known(of: identity),
            [.loginRequired, .misconfigured, .unavailable, .authorizationError].contains(known.state)
        {
            return DaemonCheck.finding(of: known, as: identity, isUsed: subject.isUsed(identity))
        }
        if let source = client.source {
            guard case .success? = subject.liveOutcome(of: identity) else {
                return .skip("with --live source: \(source.name.rawValue) is asked")
            }
            return .ok("source: \(source.name.rawValue) gives one")
        }
        let session: ExaminedSession
        do throws(CommandFailure) {
            guard let found = try await ExaminedSession(of: identity, subject) else {
                return .skip("the store is in memory, and no daemon tells of it")
            }
            session = found
        } catch {
            return .fail(error.message, fix: "store")
        }
        if let error = session.lastError { return .fail(error, fix: fix) }
        let canRenew = !client.grantType.needsPerson || session.hasRefreshToken ?? true
        guard let expiresAt = session.expiresAt else {
            if subject.known(of: identity)?.state == .authorized {
                return .ok("the daemon has one, of which the store has nothing yet")
            }
            return canRenew
                ? .ok("none is there yet; one is fetched when it is needed")
                : .fail("nobody has logged in", fix: fix)
        }
        let left = expiresAt.secondsSinceEpoch - WallClock.sinceEpoch.components.seconds
        if let change = session.scopeChange, canRenew || left > 0 { return .warn(change, fix: fix) }
        guard left > 0 else {
            let seen = "it expired at \(Timestamp.text(unixSeconds: expiresAt.secondsSinceEpoch))"
            return canRenew
                ? .ok("\(seen); a new one is fetched when it is needed")
                : .fail("\(seen), and there is no refresh token", fix: fix)
        }
        guard let lifetime = session.lifetime, let margin = client.refreshMargin, margin * 2 > lifetime else {
            return .ok("good for \(left) s")
        }
        return .warn(
            "it lives \(lifetime.components.seconds) s, less than twice the margin",
            fix: identity.key("refresh_margin"))
    }
}
