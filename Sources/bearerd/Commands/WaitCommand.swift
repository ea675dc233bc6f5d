// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import OAuth

/// `bearerd wait`: for entrypoints that start what needs the daemon.
struct WaitCommand: Command {
    static let name = "wait"
    static let summary = "blocks until a daemon is ready"
    static let details = [
        "It waits until /readyz answers 200: every identity that a route names has a token, and no drain has begun. Of the "
            + "configuration it needs nothing but admin.listen."
    ]
    static let options = [ready, timeout]

    private static let ready = CommandOption("ready", "as without it: there is nothing else to wait for")
    private static let timeout = CommandOption(
        "timeout", value: "DURATION", "at most so long (30s); 0s asks once")
    /// The least time for an answer to the first request, which is made in any case.
    private static let firstReplyLimit = Duration.seconds(1)
    /// The longest time for an answer.
    private static let longestPatience = Duration.seconds(5)
    /// The pause between two requests.
    private static let pause = Duration.milliseconds(100)

    private let file: ConfigurationFile
    private let limit: Duration

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        limit = try arguments.duration(Self.timeout) ?? .seconds(30)
        file = try ConfigurationFile(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let daemon = try file.daemonFile()
        daemon.warn()
        try CommandLoop.run { loop throws(CommandFailure) in
            let probe = try DaemonProbe(daemon, loop: loop)
            let deadline = ContinuousClock.now + limit
            var reason = await probe.obstacle(
                .readiness, within: min(max(Self.firstReplyLimit, limit), Self.longestPatience))
            while let obstacle = reason {
                guard .now < deadline else {
                    throw CommandFailure(
                        .unavailable, "not ready\(limit > .zero ? " in time" : ""): \(obstacle)")
                }
                await loop.pause(for: min(Self.pause, max(.milliseconds(1), deadline - .now)))
                let left = min(max(.milliseconds(1), deadline - .now), Self.longestPatience)
                reason = await probe.obstacle(.readiness, within: left)
            }
        }
        return .success
    }
}
