// SPDX-License-Identifier: Apache-2.0

import RESP

/// What a store is to be good for.
package enum RedisUse: String, Sendable {
    /// Sessions are read.
    case reading
    /// Sessions are replaced too.
    case writing
    /// All that a daemon does: it also tells others, and hears of them.
    case all
}

extension RedisStore {
    /// Finds out whether the server can be used, for who wants to know it first.
    ///
    /// - Throws: ``RedisError``, which names the right that is missing.
    package func probe(_ use: RedisUse) async throws(RedisError) {
        for key in ["session", "lock", "spending"] {
            let command = RESPCommand("GETRANGE", "\(settings.keyPrefix)\(key):", "0", "0")
            _ = try await perform(command, called: "GETRANGE with \(keys)")
        }
        let script = RedisScript.probe.command(
            keys: [recordKey(""), lockKey(""), markKey("")], [Array(use.rawValue.utf8), Array(channel.utf8)])
        let answer = RedisAnswer(try await perform(script, called: "EVAL with \(keys)", isScript: true))
        if answer.word == .unable { throw missing(answer.rest) }
    }

    /// Finds out whether all can be done there that a daemon does, and what the server says of itself.
    ///
    /// - Throws: ``RedisError``, which names the right that is missing.
    package func examine() async throws(RedisError) -> RedisExamination {
        try await probe(.all)
        try await probeSubscribing()
        let information = try await perform(RESPCommand("INFO"), called: "INFO").text ?? ""
        return RedisExamination(
            place: settings.sentinels.isEmpty ? "\(settings.server)" : "master '\(settings.masterName)'",
            information: information)
    }

    private var keys: String { "\(settings.keyPrefix)*" }

    /// A connection that hears of changes is good for nothing else.
    private func probeSubscribing() async throws(RedisError) {
        let connection = try await RedisDialer(settings, loop: loop).connect()
        defer { connection.close() }
        try await RedisSubscription.subscribe(
            to: channel, on: connection, by: .now + settings.commandLimit)
    }

    /// What the failure of a command in a script means.
    ///
    /// - Parameter words: the command, and what the server says of it.
    func missing(_ words: Substring) -> RedisError {
        let command = words.prefix { $0 != " " }
        let code = RESPValue.error(Array(words.dropFirst(command.count + 1).utf8)).refusal ?? .general
        let target = command == "PUBLISH" ? "to \(channel)" : "with \(keys)"
        return RedisError(reply: code, of: settings.server).naming("\(command) \(target)")
    }

    /// Has a command done that is named where it may not be.
    private func perform(
        _ command: RESPCommand, called name: String, isScript: Bool = false
    ) async throws(RedisError) -> RESPValue {
        do throws(RedisError) {
            return try await link.perform(command, isScript: isScript)
        } catch {
            if case .refused(_, .wrongType) = error { return .null }
            throw error.naming(name)
        }
    }
}
