// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Configuration
import EventLoop
import JSON
import OAuth

/// `bearerd wait --ready`: for entrypoints that start what needs the daemon.
struct WaitCommand: Command {
    static let name = "wait"
    static let summary = "blocks until a daemon is ready"
    static let options = [ready, timeout]

    private static let ready = CommandOption("ready", "until every identity that a route names has a token")
    private static let timeout = CommandOption("timeout", value: "DURATION", "at most so long (30s)")
    /// Between two questions.
    private static let pause = Duration.milliseconds(100)

    private let file: ConfigurationFile
    private let limit: Duration

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard arguments.has(Self.ready) else {
            throw CommandFailure(.usage, "what to wait for? --ready")
        }
        limit = try arguments.duration(Self.timeout) ?? .seconds(30)
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let configuration = try file.load().configuration
        try CommandLoop.run { loop throws(CommandFailure) in
            guard let client = try AdminClient(configuration.admin, loop: loop) else {
                throw CommandFailure(.configuration, "there is no admin listener that could be asked")
            }
            let deadline = ContinuousClock.now + limit
            var reason = "no daemon answers"
            while .now < deadline {
                guard let obstacle = await Self.obstacle(client, until: deadline) else { return }
                reason = obstacle
                await loop.pause(for: min(Self.pause, max(.milliseconds(1), deadline - .now)))
            }
            throw CommandFailure(.unavailable, "not ready in time: \(reason)")
        }
        return .success
    }

    /// Why the daemon is not ready; nil if it is.
    private static func obstacle(_ client: AdminClient, until deadline: Instant) async -> String? {
        do throws(CommandFailure) {
            let left = max(.milliseconds(1), deadline - .now)
            switch try await client.get(.readiness, timeLimit: min(left, .seconds(5))) {
            case .notRunning: return "no daemon answers"
            case .answered(200, _): return nil
            case .answered(let status, let body): return reasons(in: body) ?? "the daemon answers \(status)"
            }
        } catch {
            return error.message
        }
    }

    /// The states of those without a token, as the daemon tells them.
    private static func reasons(in body: [UInt8]) -> String? {
        let report = (try? JSONValue(parsing: body)).flatMap { ReadinessReport($0) }
        let words = report?.reasons.map(\.words) ?? []
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
