// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdJSON
import BearerdObservability
import OAuth

/// The sessions of the process, in the order of the configuration.
struct Identities: IdentityDirectory {
    /// The longest wait of an action on the admin listener.
    private static let actionLimit = Duration.seconds(15)

    let groups: [SessionGroup]
    let reporter: SessionReporter

    private func sessions(of name: String) -> [AuthSession] {
        groups.first { $0.name == name }?.members.map(\.session) ?? []
    }

    func statuses() async -> [SessionStatus] {
        var statuses: [SessionStatus] = []
        for group in groups { statuses.append(await group.status()) }
        return statuses
    }

    func needsPerson(_ name: String) -> Bool? {
        groups.first { $0.name == name }?.members.first?.client.grantType.needsPerson
    }

    func metrics() async -> [IdentityMetrics] {
        var metrics: [IdentityMetrics] = []
        for group in groups {
            let (status, secretExpiry) = (
                await group.status(), await group.members.first?.session.clientSecretExpiry
            )
            let counts = reporter.counts(of: status.name)
            metrics.append(
                IdentityMetrics(
                    name: status.name, state: status.state.rawValue,
                    expiryUnixSeconds: status.earliestExpiry.map { Double($0.secondsSinceEpoch) },
                    tokenRequests: counts.tokenRequests.map {
                        IdentityMetrics.TokenRequests(grant: $0.grant, outcome: $0.outcome, count: $0.count)
                    },
                    storeWriteFailures: counts.storeWriteFailures, isStoreAway: status.isStoreAway,
                    isServing: status.isServing,
                    secretExpiryUnixSeconds: secretExpiry.map { Double($0.secondsSinceEpoch) }))
        }
        return metrics
    }

    func refresh(_ name: String) async throws(TokenError) {
        for session in sessions(of: name) { try await session.refresh(waitingAtMost: Self.actionLimit) }
    }

    func invalidate(_ name: String) async throws(TokenError) {
        // All at once: none may be used again while another one is fetched.
        let failures = await withTaskGroup(of: TokenError?.self) { group in
            for session in sessions(of: name) {
                group.addTask {
                    do throws(TokenError) {
                        try await session.invalidate(waitingAtMost: Self.actionLimit)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        if let failure = failures.first { throw failure }
    }

    func userinfo(_ name: String) async throws(SessionFailure) -> JSONObject {
        guard let session = sessions(of: name).first else { return [:] }
        return try await session.userinfo(waitingAtMost: Self.actionLimit).claims
    }

    func revoke(_ hints: [TokenHint], of name: String) async throws(SessionFailure) -> [TokenHint] {
        await forgetCallers(of: name)
        return try await sessions(of: name).first?.revoke(hints) ?? []
    }

    func register(_ name: String) async throws(SessionFailure) -> RegistrationReport {
        guard let group = groups.first(where: { $0.name == name }) else {
            throw .server(
                TokenFailure(.misconfigured, .noIdentity, detail: "there is no such identity"))
        }
        return RegistrationReport(try await group.register())
    }

    func beginLogin(
        _ name: String, redirectURI: String
    ) async throws(TokenFailure) -> AuthorizationRequest {
        guard let session = sessions(of: name).first else {
            throw TokenFailure(.misconfigured, .noIdentity, detail: "there is no such identity")
        }
        return try await session.authorizationRequest(redirectURI: redirectURI)
    }

    func take(
        _ transfer: SessionTransfer, for name: String, until departure: (@Sendable () async -> Void)?
    ) async throws(LoginError) -> SessionTransferReport {
        guard let session = sessions(of: name).first else { return SessionTransferReport(isChanged: false) }
        switch transfer {
        case .code(let code):
            return SessionTransferReport(login: try await session.logIn(with: code))
        case .pending:
            return SessionTransferReport(login: try await session.logInWithPendingCode())
        case .device(let code, let verifier, let interval, let lifetime, let binding):
            var device = DeviceAuthorization(
                code: code, verifier: verifier, interval: interval, expiry: .now + lifetime)
            device.binding = binding
            return SessionTransferReport(
                login: try await logIn(session, with: device, until: departure).get())
        case .kept(let code):
            do throws(StoreError) {
                try await session.keep(code)
            } catch {
                throw .unstored(error)
            }
            return SessionTransferReport()
        case .imported(let refreshToken, let idToken, let scope, let clientID, let person, let binding):
            return SessionTransferReport(
                isChanged: try await session.take(
                    configuredFor: binding, refreshToken, idToken: idToken, scope: scope, clientID: clientID,
                    person: person))
        case .inquiry:
            if let refusal = await session.storeRefusal() { throw .unstored(refusal) }
            return SessionTransferReport(isChanged: false)
        }
    }

    /// Waits for a person's decision no longer than the command does that shows the code.
    private func logIn(
        _ session: AuthSession, with device: DeviceAuthorization,
        until departure: (@Sendable () async -> Void)?
    ) async -> Result<Login, LoginError> {
        await withTaskGroup(of: Result<Login, LoginError>?.self) { group in
            group.addTask {
                do throws(LoginError) {
                    return .success(try await session.logIn(with: device))
                } catch {
                    return .failure(error)
                }
            }
            if let departure {
                group.addTask {
                    await departure()
                    return nil
                }
            }
            var outcome: Result<Login, LoginError> = .failure(.cancelled)
            for await result in group {
                if let result { outcome = result }
                group.cancelAll()
            }
            return outcome
        }
    }

    func logOut(_ name: String, onlyHere isLocal: Bool) async -> LogoutOutcome {
        await forgetCallers(of: name)
        return await sessions(of: name).first?.logOut(onlyHere: isLocal) ?? LogoutOutcome()
    }

    /// Drops the tokens for which callers' tokens were exchanged.
    private func forgetCallers(of name: String) async {
        for session in sessions(of: name) { await session.forgetCallers() }
    }
}

extension SessionStatus {
    /// The earliest expiry of its tokens.
    fileprivate var earliestExpiry: WallTime? {
        tokens.isEmpty ? expiresAt : tokens.compactMap(\.expiresAt).min { $0.sinceEpoch < $1.sinceEpoch }
    }
}
