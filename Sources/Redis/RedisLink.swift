// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdRESP
import OAuth

/// The connection for commands, one command at a time. It is opened again after it was lost.
///
/// All our commands are idempotent, so a command whose reply was lost with an idle connection is sent once more.
/// While the server is away, connecting is tried after growing pauses, and commands in between fail at once with the
/// last error.
actor RedisLink: LoopConfined {
    nonisolated let loop: EventLoop
    private let settings: RedisSettings
    private let dialer: RedisDialer
    private let onChange: @Sendable (RedisEvent) -> Void
    private var connection: RedisConnection?
    /// The time of the last command that `connection` has brought a reply to.
    private var askedAt = ContinuousClock.now
    /// True while the sentinels are asked whether another server is the master now, and once they have named one.
    private var isAsking = false
    private var hasOtherMaster = false
    /// The time from which on they may be asked that again.
    private var askAgainAt = ContinuousClock.now
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Those of ``waiting`` that go first.
    private var waitingFirst: [CheckedContinuation<Void, Never>] = []
    /// The error that keeps us from the server; nil while there is none.
    private var trouble: RedisError?
    /// True if that error came from a script: a server may answer reads and refuse to write.
    private var failsInScripts = false
    private var told = 0
    private var failures = 0
    private var tryAgainAt = ContinuousClock.now
    private var isClosed = false

    /// The pauses before connecting again, at first and at most.
    private static let shortestPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(1)
    /// The least time between two rounds of questions to the sentinels.
    private static let askingPause: Duration = .seconds(1)
    /// The most reports about one outage before its end.
    private static let mostTold = 2

    init(_ settings: RedisSettings, loop: EventLoop, onChange: @escaping @Sendable (RedisEvent) -> Void) {
        self.loop = loop
        self.settings = settings
        self.onChange = onChange
        dialer = RedisDialer(settings, loop: loop)
    }

    /// The number of times that the server has been reached anew.
    private(set) var round = 0

    /// The run of the server that was reached last (`run_id`); nil if none was or it does not say.
    private var run: String?
    /// The time of the first contact with that run, or with a server that does not say; nil if there was none.
    private var runBegan: ContinuousClock.Instant?
    /// The time of the last contact with a server that may have lost writes: another server, a restarted one, or a
    /// former replica; nil if there was none.
    private var mayLackSince: ContinuousClock.Instant?
    /// True if the server that is away was a replica or does not say which run it is.
    private var mayLack = false
    /// True once the server has written down which run it is, and that it may lack writes if this process knows that.
    private var isRunNoted = false
    /// True if this process knows that the server may lack writes, and has not had it written down for others.
    private var lacksUntold = false

    var isAway: Bool { trouble != nil }

    /// Sends a command and returns its reply.
    ///
    /// - Parameters:
    ///   - isScript: true for a script, which may write.
    ///   - goesFirst: whether it comes before those that wait already: a lease is lost if many ask for others meanwhile.
    func perform(
        _ command: RESPCommand, isScript: Bool = false, goesFirst: Bool = false
    ) async throws(RedisError) -> RESPValue {
        await beginCommand(goesFirst)
        let outcome = await loop.startTask { await self.attempt(command, isScript) }.value
        endCommand()
        return try outcome.get()
    }

    /// Closes the connection for good.
    func close() {
        isClosed = true
        connection?.close()
        connection = nil
    }

    private func attempt(_ command: RESPCommand, _ isScript: Bool) async -> Result<RESPValue, RedisError> {
        let isOld = !settings.sentinels.isEmpty && askedAt.duration(to: .now) > settings.longestSilence
        if isOld || hasOtherMaster {
            connection?.close()
            connection = nil
        }
        if let connection {
            let outcome = await outcome(of: command, on: connection)
            if self.connection != nil {
                if isScript { reached(byScript: true) }
                return outcome
            }
        }
        do throws(RedisError) {
            let fresh = try await connect()
            (connection, hasOtherMaster) = (fresh, false)
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

    /// Performs the command, and drops the connection if it is of no more use.
    private func outcome(
        of command: RESPCommand, on connection: RedisConnection
    ) async -> Result<RESPValue, RedisError> {
        let now = ContinuousClock.now
        do throws(RedisError) {
            let reply = try await connection.perform(command, by: now + settings.commandLimit)
            askedAt = now
            return .success(reply)
        } catch {
            if error.endsConnection {
                connection.close()
                self.connection = nil
            } else {
                askedAt = now
            }
            if case .refused(_, .tooFewReplicas) = error { askForMaster(insteadOf: connection.server) }
            return .failure(error)
        }
    }

    /// Asks the sentinels where the master is: one that has lost its replicas may be cut off from those who have chosen another.
    ///
    /// Nobody waits for that, because they may be cut off, too, and there is still something to be read here.
    private func askForMaster(insteadOf server: RedisServer) {
        guard !settings.sentinels.isEmpty, !isAsking, .now >= askAgainAt else { return }
        isAsking = true
        _ = loop.startTask {
            if await self.dialer.findMaster(otherThan: server), self.connection?.server == server {
                self.hasOtherMaster = true
            }
            (self.isAsking, self.askAgainAt) = (false, .now + Self.askingPause)
        }
    }

    private func connect() async throws(RedisError) -> RedisConnection {
        guard !isClosed
        else { throw .unreachable(server: "\(settings.server)", reason: "the store is closed", key: nil) }
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

    /// Compares the server's run with the one before: it may have been restarted or replaced without our noticing.
    private func noteRun(of connection: RedisConnection) async throws(RedisError) {
        let reply = try await connection.reply(
            to: RESPCommand("INFO", "server"), by: .now + settings.commandLimit)
        let found = reply.text.flatMap(RedisExamination.run)
        if runBegan == nil { runBegan = .now }
        guard let found, run != found else { return }
        let isReplaced = run != nil || trouble != nil
        (run, runBegan, isRunNoted) = (found, .now, false)
        guard isReplaced else { return }
        noteLack()
        // At once, since others may start now. An error in reply leaves it to ``settlement(of:)``.
        if try await connection.reply(to: settle(found), by: .now + settings.commandLimit).text != nil {
            (isRunNoted, lacksUntold) = (true, false)
        }
    }

    private func noteLack() {
        mayLackSince = .now
        lacksUntold = true
        isRunNoted = false
    }

    /// - Parameter records: the keys of sessions that are looked at.
    private func settle(_ run: String, beside records: [String] = []) -> RESPCommand {
        RedisScript.settle.command(
            keys: [settings.keyPrefix + "run", settings.keyPrefix + "settling"] + records,
            [
                Array(run.utf8), Array("\(settings.leaseLife.components.seconds * 1000)".utf8),
                Array((lacksUntold ? "lacking" : "").utf8),
            ])
    }

    /// The moment until which others may have something newer than the server, which has lost writes; nil if it has lost none, as
    /// far as this process or another one knows.
    ///
    /// Where nothing can be written down (`NOREPLICAS`, a full memory), nobody can know.
    ///
    /// - Parameter records: the keys of all sessions: the first that is asked for writes down for all which run it is.
    /// - Returns: the moment, and an error if that is not allowed: who starts waits for nobody then.
    func settlement(of records: [String]) async -> (until: ContinuousClock.Instant?, refusal: RedisError?) {
        let own = mayLackSince.map { $0 + settings.leaseLife }
        guard let runBegan else { return (own, nil) }
        guard let run else { return (max(own ?? runBegan, runBegan + settings.leaseLife), nil) }
        // Who has been there all the time knows it.
        guard !isRunNoted || .now < runBegan + settings.leaseLife else { return (own, nil) }
        do throws(RedisError) {
            let reply = try await perform(settle(run, beside: records), isScript: true)
            // It went to another server, and names the one before there.
            guard self.run == run else { return await settlement(of: records) }
            (isRunNoted, lacksUntold) = (true, false)
            guard let left = reply.text.flatMap({ Int($0) }), left > 0 else { return (own, nil) }
            return (max(own ?? .now, .now + .milliseconds(left)), nil)
        } catch {
            guard case .forbidden = error else { return (.now + settings.leaseLife, nil) }
            isRunNoted = true
            return (own, error)
        }
    }

    private func failed(_ error: RedisError) {
        failures += 1
        var pause = Self.longestPause
        if failures < 6 { pause = min(pause, Self.shortestPause * (1 << (failures - 1))) }
        // Random, so that daemons that lost the server together do not return together.
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
        // Others may have written down meanwhile that it lacks writes.
        runBegan = .now
        if mayLack || run == nil { noteLack() }
        mayLack = false
        told = 0
        onChange(.found)
    }

    // MARK: One command at a time

    private func beginCommand(_ goesFirst: Bool) async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { continuation in
            if goesFirst { waitingFirst.append(continuation) } else { waiting.append(continuation) }
        }
    }

    private func endCommand() {
        guard waitingFirst.isEmpty else { return waitingFirst.removeFirst().resume() }
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
