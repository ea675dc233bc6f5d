// SPDX-License-Identifier: Apache-2.0

import BearerdRESP

/// The purpose that a store must be fit for.
package enum RedisUse: String, Sendable {
    /// Reading sessions.
    case reading
    /// Replacing sessions too.
    case writing
    /// Everything that a daemon does: also telling others, and hearing of them.
    case all
}

extension RedisStore {
    /// Finds out whether the server can be used.
    ///
    /// - Throws: ``RedisError`` that names the missing right.
    package func probe(_ use: RedisUse) async throws(RedisError) {
        for key in ["session", "lock", "spending"] {
            let command = RESPCommand("GETRANGE", "\(settings.keyPrefix)\(key):", "0", "0")
            _ = try await perform(command, called: "GETRANGE with \(keys)")
        }
        let script = RedisScript.probe.command(
            keys: [recordKey(""), lockKey(""), markKey("")], [Array(use.rawValue.utf8), Array(channel.utf8)])
        let answer = ScriptReply(try await perform(script, called: "EVAL with \(keys)", isScript: true))
        if answer.word == .unable { throw missing(answer.rest) }
    }

    /// Finds out whether the server can do everything that a daemon needs, and what it says of itself.
    ///
    /// - Throws: ``RedisError`` that names the missing right.
    package func examine() async throws(RedisError) -> RedisExamination {
        try await probe(.all)
        try await probeSubscribing()
        let information = try await perform(RESPCommand("INFO"), called: "INFO").text ?? ""
        return RedisExamination(
            place: settings.sentinels.isEmpty ? "\(settings.server)" : "master '\(settings.masterName)'",
            information: information)
    }

    private var keys: String { "\(settings.keyPrefix)*" }

    /// Subscribes on a connection of its own: it is good for nothing else afterwards.
    private func probeSubscribing() async throws(RedisError) {
        let connection = try await RedisDialer(settings, loop: loop).connect()
        defer { connection.close() }
        try await RedisSubscription.subscribe(
            to: channel, on: connection, by: .now + settings.commandLimit)
    }

    /// The error of a command that failed in a script.
    ///
    /// - Parameter words: the command and the server's text.
    func missing(_ words: Substring) -> RedisError {
        let command = words.prefix { $0 != " " }
        let code = RESPValue.error(Array(words.dropFirst(command.count + 1).utf8)).refusal ?? .general
        let target = command == "PUBLISH" ? "to \(channel)" : "with \(keys)"
        return RedisError(reply: code, of: settings.server).naming("\(command) \(target)")
    }

    /// Performs a command that errors name.
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
