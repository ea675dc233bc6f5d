// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// An authorization server that replaces refresh tokens, and ends the session of whoever sends one twice (RFC 9700
/// §4.14.2).
///
/// Refresh token `7.3` is the third of session 7.
final class ModelProvider {
    /// One session at the provider.
    private struct Family {
        /// The refresh token that works.
        var current = 0
        /// The newest that was told to a process.
        var delivered = 0
        var isDead = false
        /// Whether somebody has logged in or out since, so that nobody needs it.
        var isOver = false
        /// Whether it may be lost: a holder was killed or stood still, or an answer was lost.
        var isExcused = false
    }

    /// A refresh token on its way.
    private final class Sending {
        let process: ModelProcess
        let owner: String
        let at: Instant
        /// Whether the provider told that the token is as good as before.
        var isHarmless = false
        /// When its connection was lost to the client, or the client to it.
        var isConnected = true

        var isAlive: Bool { process.isRunning && process.name == owner }

        init(_ process: ModelProcess, at now: Instant) {
            self.process = process
            owner = process.name
            at = now
        }
    }

    private unowned let world: ModelWorld
    private var families: [Family] = []
    private var sendings: [String: [Sending]] = [:]
    private var calls: [String: Sending] = [:]
    private var accessTokens = 0
    private var lossMoment: Instant?
    /// When it last answered something harmless.
    private var lastProbe: Instant?
    private(set) var hangsUntil: Instant?
    /// How many refresh tokens were sent, and how many of them twice.
    private(set) var counts = (sent: 0, again: 0, killed: 0)

    init(_ world: ModelWorld) { self.world = world }

    // MARK: Sessions

    /// A new session.
    func begin() -> Secret {
        families.append(Family())
        return Secret("\(families.count - 1).0")
    }

    /// Somebody has logged in or out: what was before is over.
    func endAll(but token: Secret?) {
        let family = token.map { Self.place(of: $0).family }
        for index in families.indices where index != family { families[index].isOver = true }
    }

    /// Nobody needs a session any more whose refresh token was revoked.
    func revoked(_ token: Secret?) {
        guard let token else { return }
        families[Self.place(of: token).family].isOver = true
        families[Self.place(of: token).family].isDead = true
    }

    static func place(of token: Secret) -> (family: Int, index: Int) {
        let parts = token.withPlaintext { $0.split(separator: ".").compactMap { Int($0) } }
        return (parts[0], parts[1])
    }

    static func describe(_ session: StoredSession?) -> String {
        guard let session else { return "nothing" }
        let token = session.refreshToken.map { $0.withPlaintext { $0 } } ?? "-"
        return "\(token)#\(session.generation)\(session.refusal == nil ? "" : " refused")"
    }

    /// Whether this is the refresh token of a session that works.
    func mustWork(_ token: Secret?) -> Bool {
        guard let token else { return false }
        let (family, index) = Self.place(of: token)
        return !families[family].isDead && families[family].current == index
    }

    /// A process has lost the newest refresh token, and said so: nothing is left that sending an older one could end.
    func abandon(by process: ModelProcess) {
        for sending in sendings.values.joined() where sending.owner == process.name {
            sending.isHarmless = true
        }
    }

    /// What a process holds or is asking for may get lost with it.
    func excuse(_ token: Secret?) {
        if let token { families[Self.place(of: token).family].isExcused = true }
    }

    // MARK: Promises

    /// The store has lost all marks: nobody can know any more what those who are gone, or cut off, have sent, and who has only just
    /// begun cannot know that there was anything.
    func marksAreLost() {
        for sending in sendings.values.joined() {
            let process = sending.process
            if !sending.isAlive || process.view.isCutOff || process.isFrozen { sending.isHarmless = true }
        }
        lossMoment = world.now
    }

    /// A process is gone: of what it has sent before the marks were lost nobody can know any more, unless it has marked it anew.
    func isGone(_ process: ModelProcess) {
        guard let lossMoment, !world.store.isMarked(by: process) else { return }
        for sending in sendings.values.joined() where sending.owner == process.name && sending.at < lossMoment
        {
            sending.isHarmless = true
        }
    }

    /// Looks whether a refresh token may be sent: never twice, but where its holder is gone or its connection silent.
    private func checkSending(_ token: Secret, by process: ModelProcess) {
        let name = token.withPlaintext { $0 }
        let term = world.faults.leaseTerm
        if let lossMoment, let term, process.beginning >= lossMoment,
            world.now < max(lossMoment, world.store.refusalEnd) + term
        {
            return excuse(token)
        }
        for earlier in sendings[name] ?? [] where !earlier.isHarmless {
            // Where the mark is lost, a holder without a sign for one lease counts as gone.
            if let lossMoment, let term, earlier.at < lossMoment,
                !earlier.isAlive || world.now >= lossMoment + term,
                world.store.lastSign(of: earlier.owner) < lossMoment
            {
                continue
            }
            counts.again += 1
            let probe = lastProbe.map { $0 > earlier.at } ?? false
            if !probe { world.fail("\(process.name) sent \(name) again and had asked nothing harmless") }
            if earlier.owner == process.name {
                let silence = process.answeringSince.map { world.now - $0 } ?? .zero
                let isLong = world.now - earlier.at >= world.configuration.tokenTimeLimit + .seconds(5)
                if earlier.isConnected, silence < .seconds(5) || !isLong {
                    world.fail("\(process.name) sent \(name) again though its connection lives")
                }
            } else if let term {
                let isSeen = world.store.lastSign(of: earlier.owner) + term > world.now
                if isSeen, earlier.isConnected || !probe {
                    world.fail("\(process.name) sent \(name), which \(earlier.owner) had sent and lives")
                }
            } else if earlier.isAlive, earlier.isConnected || !probe {
                world.fail("\(process.name) sent \(name), which \(earlier.owner) had sent and lives")
            }
        }
    }

    /// Looks whether what is stored is replaced by something older.
    func checkReplacing(_ old: StoredSession?, with new: StoredSession, by process: ModelProcess) {
        if let old, old.origin != new.origin, let began = old.began, let before = new.began, before < began {
            world.fail("\(process.name) replaced a session by one that began earlier")
        }
        guard let before = old?.refreshToken.map(Self.place), let after = new.refreshToken.map(Self.place)
        else { return }
        let isOlder =
            after.family == before.family ? after.index < before.index : after.family < before.family
        if isOlder { world.fail("\(process.name) replaced \(before) by \(after)") }
    }

    /// Looks whether every refresh token that was told to a process is stored or held.
    func checkNothingIsLost() {
        guard let family = families.indices.last, !families[family].isOver, !families[family].isExcused,
            !families[family].isDead
        else { return }
        let wanted = families[family].delivered
        func has(_ session: StoredSession?) -> Bool {
            guard let token = session?.refreshToken else { return false }
            let (found, index) = Self.place(of: token)
            return found == family && index >= wanted
        }
        func isLoggingIn(_ commands: [QueuedCommand]) -> Bool {
            commands.contains { queued in
                guard case .login(let grant, _, _, _) = queued.command, let token = grant.refreshToken
                else { return false }
                return Self.place(of: token).family == family
            }
        }
        func isJudging(_ phase: Phase) -> Bool {
            guard case .judging(_, _, let outcome) = phase, let token = outcome.refreshToken else {
                return false
            }
            let (found, index) = Self.place(of: token)
            return found == family && index >= wanted
        }
        /// Whether a request has brought it that was left for others, or while something is written.
        func isDeferred(_ engine: IdentityEngine) -> Bool {
            var events = engine.adrift?.deferred ?? []
            if case .asking(let asking) = engine.phase { events += asking.deferred }
            return events.contains { event in
                guard case .answered(_, let answer) = event, let token = answer.outcome.refreshToken else {
                    return false
                }
                let (found, index) = Self.place(of: token)
                return found == family && index >= wanted
            }
        }
        if has(world.store.record)
            || world.processes.contains(where: { $0.isRunning && has($0.engine.session) })
            || world.processes.contains(where: { $0.isRunning && isJudging($0.engine.phase) })
            || world.processes.contains(where: { $0.isRunning && isLoggingIn($0.engine.commands) })
            || world.processes.contains(where: { $0.isRunning && isDeferred($0.engine) })
        {
            return
        }
        world.fail("nobody has \(family).\(wanted)")
    }

    // MARK: Token requests

    /// Takes a token request, and has its answer told when it is ready.
    func ask(_ process: ModelProcess, _ ticket: Ticket, _ grant: Grant) {
        guard case .refresh(let token) = grant else {
            return grantAnew(process, ticket)
        }
        counts.sent += 1
        checkSending(token, by: process)
        process.answeringSince = nil
        let sending = Sending(process, at: world.now)
        sendings[token.withPlaintext { $0 }, default: []].append(sending)
        calls["\(process.name)/\(ticket)"] = sending
        world.note("\(process.name) sends \(token.withPlaintext { $0 })")
        let sentAt = world.now
        process.open.insert(ticket)
        world.after(UnansweredRefresh.longestWait, for: process) {
            self.lost(process, ticket, sending, .timedOut)
        }
        if world.faults.losesAnswers, !world.isQuiet, world.chance(5) {
            let arrives = world.chance(50)
            if arrives { excuse(token) } else { sendings[token.withPlaintext { $0 }]?.removeLast() }
            return world.after(world.seconds(0.1...20), for: process) {
                if arrives { _ = self.process(token) }
                self.lost(process, ticket, sending, .interrupted)
            }
        }
        work(process, ticket, token, sending, sentAt)
    }

    /// Answers a client that asks in its own name, and gets no refresh token.
    private func grantAnew(_ process: ModelProcess, _ ticket: Ticket) {
        if world.configuration.grantType.needsPerson { world.fail("\(process.name) asks in its own name") }
        let (now, wall, isBusy) = (world.now, world.wall, !world.isQuiet && world.chance(10))
        world.after(world.seconds(0...13), for: process) {
            let result = isBusy ? Result.failure(Self.failure(.status(503))) : .success(self.accessToken())
            let outcome = TokenRequestResult(result: result, sentAt: now, wall: wall)
            process.take(.answered(ticket, TokenRequestReport(outcome: outcome)))
        }
    }

    private func accessToken() -> TokenResponse {
        accessTokens += 1
        return TokenResponse(accessToken: Secret("a\(accessTokens)"), lifetime: world.seconds(15...200))
    }

    private func lost(
        _ process: ModelProcess, _ ticket: Ticket, _ sending: Sending, _ reason: TokenFailure.Reason
    ) {
        sending.isConnected = false
        guard calls["\(process.name)/\(ticket)"] === sending else { return }
        guard process.open.remove(ticket) != nil else { return }
        let outcome = TokenRequestResult(
            result: .failure(Self.failure(reason)), sentAt: sending.at, wall: world.wall)
        process.take(.answered(ticket, TokenRequestReport(outcome: outcome)))
    }

    /// A process closes a connection.
    func hangUp(_ process: ModelProcess, _ ticket: Ticket) {
        calls["\(process.name)/\(ticket)"]?.isConnected = false
    }

    /// Answers, once the provider does not hang.
    private func work(
        _ process: ModelProcess, _ ticket: Ticket, _ token: Secret, _ sending: Sending, _ sentAt: Instant,
        hasHung: Bool = false
    ) {
        if let hangsUntil, hangsUntil > world.now {
            if hasHung { excuse(token) }  // it woke up for too short a time
            let wait = hangsUntil - world.now + world.seconds(0...3)
            return world.after(wait) {
                self.work(process, ticket, token, sending, sentAt, hasHung: true)
            }
        }
        let isBusy = !world.isQuiet && world.chance(10)
        let wantsAnother = !world.isQuiet && world.chance(10)
        let result =
            isBusy || wantsAnother ? Result.failure(Self.failure(.status(503))) : self.process(token)
        // It takes less time for anything than is waited before the token is sent once more.
        let slowness = !hasHung && world.chance(10) ? world.seconds(0...13) : world.briefly
        world.after(slowness, for: process) {
            guard sending.isAlive, process.open.remove(ticket) != nil else { return }
            if wantsAnother {
                self.world.note("\(process.name) is to send \(token.withPlaintext { $0 }) with another nonce")
                sending.isHarmless = true
                return process.prepare(ticket, .refresh(token))
            }
            var outcome = TokenRequestResult(
                result: result, sentAt: sentAt, wall: self.world.wall + (sentAt - self.world.now))
            if case .success(let grant) = result, let new = grant.refreshToken {
                outcome.refreshToken = new
                let (family, index) = Self.place(of: new)
                self.families[family].delivered = max(self.families[family].delivered, index)
            } else {
                sending.isHarmless = true
            }
            self.world.note(
                "\(process.name) is answered: \(outcome.refreshToken.map { $0.withPlaintext { $0 } } ?? "no")"
            )
            let needsKeys = self.world.chance(30)
            process.take(.answered(ticket, TokenRequestReport(outcome: outcome, needsKeys: needsKeys)))
        }
    }

    private func process(_ token: Secret) -> Result<TokenResponse, TokenFailure> {
        let (family, index) = Self.place(of: token)
        guard !families[family].isDead else {
            // There is nothing left that sending it could end.
            for sending in sendings[token.withPlaintext { $0 }] ?? [] { sending.isHarmless = true }
            return .failure(Self.refusal)
        }
        guard index == families[family].current else {
            world.note("\(family).\(index) was spent: the provider ends the session")
            families[family].isDead = true
            for sending in sendings[token.withPlaintext { $0 }] ?? [] { sending.isHarmless = true }
            counts.killed += 1
            if !families[family].isOver, !families[family].isExcused {
                world.fail("session \(family) is lost")
            }
            return .failure(Self.refusal)
        }
        families[family].current += 1
        var grant = accessToken()
        grant.refreshToken = Secret("\(family).\(index + 1)")
        if world.chance(50) { grant.idToken = Secret("an id token") }
        return .success(grant)
    }

    private static let refusal = TokenFailure(.final, .refused(.invalidGrant), detail: "")

    static func failure(_ reason: TokenFailure.Reason) -> TokenFailure {
        TokenFailure(.transient, reason, detail: "")
    }

    // MARK: Else

    func probe(_ process: ModelProcess, _ ticket: Ticket) {
        let isHanging = hangsUntil.map { $0 > world.now } ?? false
        world.after(isHanging ? .seconds(10) : world.briefly, for: process) {
            process.answeringSince = isHanging ? nil : process.answeringSince ?? self.world.now
            if !isHanging { self.lastProbe = self.world.now }
            process.take(.probed(ticket, isHanging ? Self.failure(.timedOut) : nil))
        }
    }

    func hang(for length: Duration) {
        world.note("the provider hangs")
        hangsUntil = max(hangsUntil ?? world.now, world.now + length)
    }
}
