// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Attempts that somebody makes needless who logs in or out while the provider is still to answer.
///
/// An attempt has the turn, the store's lock, and a refresh token of the session that is about to end. Its answer may
/// take a minute, which is longer than a person should wait, and would bring that session back. So the attempt lets go
/// at once, and whatever comes of its request is nobody's: it changes no state, is stored nowhere, given to nobody, and
/// counts as no failure.
///
/// The request itself goes on: the provider may have replaced the refresh token, and only its answer says by what. After
/// a logout that token is revoked, or the session would live on at the provider. After a login it is only forgotten,
/// because there are providers that end the new session with the old one's token: they tie both to one person or to
/// one session of the browser.
extension AuthSession {
    /// What an attempt waits for.
    enum ProviderStep: Sendable {
        case answer(to: Grant, adding: TokenAdditions)
        case judgement(of: TokenRequestResult, previous: IDToken?)
    }

    /// Returns when nobody in this process makes a token request for the identity, or waits for the answer to one, and
    /// nobody begins one before `family.endTurn()`.
    func supersede(for reason: Supersession) async {
        for sibling in family.siblings(of: self) { Task { await sibling.letGo(for: reason) } }
        letGo(for: reason)
        await family.takeTurn(superseding: true)
    }

    func letGo(for reason: Supersession) {
        supersessions.all += 1
        if case .logout(isLocal: false) = reason { supersessions.ending += 1 }
        awaitedAnswer?.finish()
        sentRefresh?.sink.finish()
    }

    /// What comes of a step; nil if the attempt is superseded first.
    func awaiting(_ step: ProviderStep) async -> TokenRequestResult? {
        guard !family.isSuperseded else { return nil }
        let (outcomes, answer) = AsyncStream.makeStream(of: TokenRequestResult.self)
        let before = supersessions
        awaitedAnswer = answer
        let request = Task {
            let outcome = await take(step, unless: { supersessions.all > before.all })
            if case .terminated = answer.yield(outcome), supersessions.ending > before.ending {
                await revoke(leftover: outcome)
            }
        }
        var iterator = outcomes.makeAsyncIterator()
        let outcome = await iterator.next(isolation: self)
        awaitedAnswer = nil
        if outcome == nil {
            let earlier = leftover
            leftover = Task {
                await earlier?.value
                await request.value
            }
        }
        return outcome
    }

    private func take(_ step: ProviderStep, unless isNeedless: () -> Bool) async -> TokenRequestResult {
        switch step {
        case .answer(let grant, let additions):
            await server.requestToken(
                with: grant, adding: additions, proving: state.session.proofKey, unless: isNeedless)
        case .judgement(let outcome, let previous):
            await judge(outcome, previous: previous)
        }
    }

    /// Has the provider forget what a superseded attempt brought; an access token goes with its refresh token.
    func revoke(leftover outcome: TokenRequestResult) async {
        let grant = try? outcome.result.get()
        do throws(TokenFailure) {
            guard try await server.urlIfAny(of: .revocation) != nil else { return }
            if let token = outcome.refreshToken ?? grant?.refreshToken {
                try await server.revoke(token, .refreshToken)
            } else if let token = grant?.accessToken {
                try await server.revoke(token, .accessToken)
            }
        } catch {
            // Nobody waits for it, and nothing of ours depends on it.
        }
    }
}
