// SPDX-License-Identifier: Apache-2.0

import EventLoop
import OAuth
import RESP

/// The connection that commands go over, one at a time; made anew when it is lost.
///
/// Every command of ours may be done twice without harm, so one whose answer was lost with a connection that had been
/// idle is sent once more. While the server is away there is one try to connect after a pause that grows, and whoever
/// has a command meanwhile hears at once what the last try came to.
actor RedisLink: LoopConfined {
    nonisolated let loop: EventLoop
    private let settings: RedisSettings
    private let dialer: RedisDialer
    private let onChange: @Sendable (RedisEvent) -> Void
    private var connection: RedisConnection?
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// What keeps us from the server; nil while nothing does.
    private var trouble: RedisError?
    /// Whether it came of a script: a server may answer all else, and let nobody write.
    private var failsInScripts = false
    private var told = 0
    private var failures = 0
    private var tryAgainAt = ContinuousClock.now
    private var isClosed = false

    /// Between the first two tries to connect, and at most.
    private static let shortestPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(1)
    /// What is said of one outage at most, before its end is.
    private static let mostTold = 2

    init(_ settings: RedisSettings, loop: EventLoop, onChange: @escaping @Sendable (RedisEvent) -> Void) {
        self.loop = loop
        self.settings = settings
        self.onChange = onChange
        dialer = RedisDialer(settings, loop: loop)
    }

    /// How often the server has been reached anew.
    private(set) var round = 0

    /// Which run of the server was reached last (`run_id`); nil while none was, or it does not say.
    private var run: String?
    /// When a server was last found that may lack what was last written: another one, the same started anew, or one that
    /// was a replica meanwhile; nil if never.
    private(set) var mayLackSince: ContinuousClock.Instant?
    /// Whether the one that is away turned out to be a replica, or does not say which run it is.
    private var mayLack = false

    /// Whether the server cannot be used.
    var isAway: Bool { trouble != nil }

    /// Has a command done.
    ///
    /// - Parameter isScript: whether it is one that may write.
    /// - Throws: ``RedisError``.
    func perform(_ command: RESPCommand, isScript: Bool = false) async throws(RedisError) -> RESPValue {
        await takeTurn()
        let outcome = await loop.startTask { await self.attempt(command, isScript) }.value
        endTurn()
        return try outcome.get()
    }

    /// Ends the connection for good.
    func close() {
        isClosed = true
        connection?.close()
        connection = nil
    }

    private func attempt(_ command: RESPCommand, _ isScript: Bool) async -> Result<RESPValue, RedisError> {
        if let connection {
            let outcome = await outcome(of: command, on: connection)
            if self.connection != nil {
                if isScript { reached(byScript: true) }
                return outcome
            }
        }
        do throws(RedisError) {
            let fresh = try await connect()
            connection = fresh
            let outcome = await outcome(of: command, on: fresh)
            if case .failure(let error) = outcome, connection == nil {
                failsInScripts = failsInScripts || isScript
                failed(error)
            } else {
                reached(byScript: isScript)
            }
            return outcome
        } catch {
            return .failure(error)
        }
    }

    /// Forgets the connection where it is of no more use.
    private func outcome(
        of command: RESPCommand, on connection: RedisConnection
    ) async -> Result<RESPValue, RedisError> {
        do throws(RedisError) {
            return .success(try await connection.perform(command, by: .now + settings.commandLimit))
        } catch {
            if error.endsConnection {
                connection.close()
                self.connection = nil
            }
            return .failure(error)
        }
    }

    private func connect() async throws(RedisError) -> RedisConnection {
        guard !isClosed else {
            throw .unreachable(server: "\(settings.server)", reason: "the store is closed", key: nil)
        }
        if let trouble, .now < tryAgainAt { throw trouble }
        do throws(RedisError) {
            let fresh = try await dialer.connect()
            do throws(RedisError) {
                try await noteRun(of: fresh)
            } catch {
                fresh.close()
                throw error
            }
            return fresh
        } catch {
            failed(error)
            throw error
        }
    }

    /// A server may have been started anew, or another one have taken its place, without our having missed it.
    private func noteRun(of connection: RedisConnection) async throws(RedisError) {
        let reply = try await connection.exchange(
            RESPCommand("INFO", "server"), by: .now + settings.commandLimit)
        guard let found = reply.text.flatMap(RedisExamination.run) else { return }
        if run != found, run != nil || trouble != nil { mayLackSince = .now }
        run = found
    }

    private func failed(_ error: RedisError) {
        failures += 1
        var pause = Self.longestPause
        if failures < 6 { pause = min(pause, Self.shortestPause * (1 << (failures - 1))) }
        // Those who lost it together do not come back together.
        tryAgainAt = .now + pause * Double.random(in: 0.5...1)
        let isNews = trouble?.reason != error.reason
        trouble = error
        if case .refused = error { mayLack = true }
        guard isNews, told < Self.mostTold, !isClosed else { return }
        told += 1
        onChange(.lost(reason: error.reason))
    }

    private func reached(byScript isScript: Bool) {
        guard isScript || !failsInScripts else { return }
        failsInScripts = false
        failures = 0
        if trouble != nil || round == 0 { round += 1 }
        guard trouble != nil else { return }
        trouble = nil
        if mayLack || run == nil { mayLackSince = .now }
        mayLack = false
        told = 0
        onChange(.found)
    }

    // MARK: Turns

    private func takeTurn() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func endTurn() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
