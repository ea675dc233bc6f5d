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
    /// - Returns: what it says of itself: name and version.
    /// - Throws: ``RedisError``, which names the right that is missing.
    package func probe(_ use: RedisUse) async throws(RedisError) -> String {
        for key in ["session", "lock", "spending"] {
            let command = RESPCommand("GETRANGE", "\(settings.keyPrefix)\(key):", "0", "0")
            _ = try await perform(command, called: "GETRANGE")
        }
        let script = RedisScript.probe.command(
            keys: [recordKey(""), lockKey(""), markKey("")], [Array(use.rawValue.utf8), Array(channel.utf8)])
        let answer = RedisAnswer(try await perform(script, called: "EVAL"))
        if answer.word == .unable { throw missing(answer.rest) }
        if use == .all { try await probeSubscribing() }
        let info = try await perform(RESPCommand("INFO", "server"), called: "INFO", with: nil).text ?? ""
        let lines = info.split(whereSeparator: \.isNewline)
        func value(_ name: String) -> Substring? {
            lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1)
        }
        let version =
            value("valkey_version").map { "Valkey \($0)" } ?? "Redis \(value("redis_version") ?? "")"
        return "\(settings.sentinels.isEmpty ? "\(settings.server)" : "master '\(settings.masterName)'"): "
            + String(decoding: version.utf8.filter { 0x20...0x7E ~= $0 }.prefix(64), as: UTF8.self)
    }

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
        let target = command == "PUBLISH" ? channel : "\(settings.keyPrefix)*"
        return RedisError(reply: code, of: settings.server, to: String(command), with: target)
    }

    /// Has a command done that is named where it may not be.
    private func perform(
        _ command: RESPCommand, called name: String
    ) async throws(RedisError) -> RESPValue {
        try await perform(command, called: name, with: "\(settings.keyPrefix)*")
    }

    private func perform(
        _ command: RESPCommand, called name: String, with target: String?
    ) async throws(RedisError) -> RESPValue {
        do throws(RedisError) {
            return try await link.perform(command)
        } catch {
            switch error {
            case .refused(_, .wrongType): return .null
            case .forbidden(let server, _, _):
                throw RedisError(forbidding: name, with: target, at: server)
            case .unreachable, .denied, .refused: throw error
            }
        }
    }
}
